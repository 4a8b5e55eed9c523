import { describe, expect, it } from 'vitest';
import { findByPreset } from '../../src/redact/second-net.ts';
import { writeSecrets } from '../fixtures/secrets/write-secrets.ts';
import { makeRedactor } from '../support/redactor.ts';

describe('what the preset of secretlint finds', () => {
  it('is found here too, on labelled secrets of all kinds', async () => {
    let found = 0;
    const missed: string[] = [];
    for (const { text, secret } of writeSecrets(800, 5)) {
      for (const { kind, start, end } of await findByPreset(text)) {
        found++;
        const left = makeRedactor().redactText(text);
        if (left.includes(secret) || left.includes(text.slice(start, end))) missed.push(`${kind}: ${text}`);
      }
    }
    expect(found).toBeGreaterThan(100);
    expect(missed).toEqual([]);
  });
});
