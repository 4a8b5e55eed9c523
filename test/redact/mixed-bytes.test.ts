import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { redactFile } from '../../src/redact/redact-stream.ts';
import { fillTemplate, rollDice } from '../fixtures/secrets/write-secrets.ts';
import { makeRedactor } from '../support/redactor.ts';

const seed = randomInt(2 ** 31);
const dice = rollDice(seed);
const makeToken = (): string => `ghp_${fillTemplate('{l1}{d1}'.repeat(18), dice)}`;

describe('a secret that is split by signs', () => {
  it.each(['\ufffd', '\u2407', '\u2400', '\u2421'])('is found beside another one: %s', (sign) => {
    const [whole, split] = [makeToken(), makeToken()];
    const text = `first ${whole}, then ${split.slice(0, 12)}${sign}${split.slice(12)}`;
    const redacted = makeRedactor().redactText(text);
    expect(redacted, `seed ${seed}`).not.toContain(split.slice(12));
    expect(makeRedactor().redactText(redacted)).toBe(redacted);
  });

  it('is found in a file of other bytes once those are redacted', () => {
    const [whole, split] = [makeToken(), makeToken()];
    const other = Buffer.from(`token=${whole}`);
    const bytes = Buffer.concat([
      Buffer.from(`use ${split.slice(0, 12)}\u200b${split.slice(12)} for it\npassword="hunter`),
      Buffer.of(0x8b, 0x8b),
      Buffer.from('2-Grün-77"\n'),
      other,
    ]);
    const once = redactFile(bytes, makeRedactor());
    expect(once.toString('latin1'), `seed ${seed}`).not.toContain(whole);
    expect(redactFile(once, makeRedactor()).equals(once)).toBe(true);
  });
});
