import { describe, expect, it } from 'vitest';
import { listAdversaries } from '../fixtures/secrets/adversaries.ts';
import { makeRedactor } from '../support/redactor.ts';

describe('adversarial texts for all redaction rules', () => {
  // What is not linear in the length takes minutes here; how fast it is, is measured by the bench.
  it('are redacted in linear time', { timeout: 240_000 }, () => {
    for (const { name, write } of listAdversaries()) {
      const text = write(30_000);
      expect(makeRedactor().redactText(text).length, name).toBeGreaterThan(0);
    }
  });
});
