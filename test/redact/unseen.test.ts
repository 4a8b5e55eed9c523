import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanText } from '../../src/model/text.ts';
import { makeRedactor } from '../support/redactor.ts';

const token = (seed: number): string =>
  `ghp${'_'}${Array.from({ length: 36 }, (_, at) => 'aB3dE5fG7h'.charAt((seed + at * 7) % 10)).join('')}`;
const unseen = fc.constantFrom(
  ...['\u001b[31m', '\u001b[0m', '\u001b]8;;x\u0007', '\u009b1m', '\0', '\u0008', '\u007f', '\u200b', '\u200d'],
  ...['\u2060', '\ufeff', '\u00ad', '\u202e', '\u{e0041}', '\u180e'],
);
const around = fc.constantFrom('', 'plain ', 'wide → ', 'm', '\u001b[32mm\u001b[0m ');

describe('a secret that is split by what no reader sees', () => {
  it('is not in the text once that is cleaned, whoever cleans it', () => {
    fc.assert(
      fc.property(
        fc.nat(9),
        fc.array(fc.tuple(fc.nat(39), unseen), { minLength: 1, maxLength: 5 }),
        around,
        (seed, cuts, before) => {
          const secret = token(seed);
          let text = secret;
          for (const [at, part] of [...cuts].sort(([a], [b]) => b - a))
            text = `${text.slice(0, at)}${part}${text.slice(at)}`;
          const kept = cleanText(makeRedactor().redactText(`${before} ${text} after`));
          expect(kept).not.toContain(secret.slice(10, 30));
          expect(kept).toContain('after');
        },
      ),
    );
  });

  it('has the placeholder of the whole one', () => {
    const secret = token(1);
    const split = `${secret.slice(0, 9)}\u001b[1m${secret.slice(9)}`;
    expect(makeRedactor().redactText(split)).toBe(makeRedactor().redactText(secret));
  });

  it('leaves as it was what is around it', () => {
    const split = `\u001b[1mbold\u001b[0m ${token(2).slice(0, 9)}\u200b${token(2).slice(9)} \u001b[31mred`;
    expect(makeRedactor().redactText(split)).toMatch(/^\u001b\[1mbold\u001b\[0m \[redacted:[^\]]+\] \u001b\[31mred$/);
  });

  it('is known by its context too, and is learnt', () => {
    const redactor = makeRedactor();
    redactor.redactText('DB_PASS\u200bWORD="tr0ub4\u001b[0mdor9x"');
    expect(redactor.redactText('log in with tr0ub4dor9x')).not.toContain('tr0ub4dor9x');
    expect(cleanText(redactor.redactText('log in with tr0ub\u200b4dor9x'))).not.toContain('tr0ub4dor9x');
  });

  it('does not matter to a text without secrets', () => {
    for (const text of ['\u001b[1mnpm test\u001b[0m', 'a\u200bb', '\0\0\0\0\0\0\0\0\0', 'emoji 👩‍👩‍👧 here'])
      expect(makeRedactor().redactText(text)).toBe(text);
  });
});
