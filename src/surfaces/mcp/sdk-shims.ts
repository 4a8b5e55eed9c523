/**
 * Stands for what the SDK loads for its platform. Its validator of JSON Schema is only for what clients fill in when they
 * are asked, which this server never does; it would take as long to load as all the rest.
 */
const { process } = globalThis;

export { process };

export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('nothing is validated by JSON Schema here');
  }
}
