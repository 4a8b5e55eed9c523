/** Replaces what the SDK loads: a validator for forms, which we never send, that loads as slowly as everything else. */
const { process } = globalThis;

export { process };

export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('nothing is validated by JSON Schema here');
  }
}
