import { Redactor } from '../../src/redact/redactor.ts';
import type { RedactSettings } from '../../src/redact/settings.ts';

/** With a key that is the same in every run. */
export function makeRedactor(settings?: RedactSettings): Redactor {
  return new Redactor({ key: () => new Uint8Array(32), ...(settings === undefined ? {} : { settings }) });
}
