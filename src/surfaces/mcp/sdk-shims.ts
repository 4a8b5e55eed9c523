/**
 * Replaces what the SDK loads for its platform. Its JSON Schema validator is only used for forms that a server sends,
 * which this one never does; it would take as long to load as everything else.
 */
const { process } = globalThis;

export { process };

export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('nothing is validated by JSON Schema here');
  }
}
