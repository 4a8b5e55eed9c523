import { describe, expect, it } from 'vitest';
import { NAMED_RULES } from '../../src/redact/rules/names.ts';
import { RULES } from '../../src/redact/rules/vendors.ts';
import { type LabelledSecret, writeSecrets } from '../fixtures/secrets/write-secrets.ts';
import { makeRedactor } from '../support/redactor.ts';

const SECRETS = writeSecrets(2000, 1);

/** Not even the half of it may stay. */
function isLeft({ secret, text }: LabelledSecret): boolean {
  const left = makeRedactor().redactText(text);
  const lines = secret.split('\n').filter((line) => !line.startsWith('-----'));
  return lines.some(
    (line) =>
      left.includes(line.slice(0, Math.ceil(line.length / 2))) ||
      left.includes(line.slice(-Math.ceil(line.length / 2))),
  );
}

describe('of 2,000 labelled secrets', () => {
  it('at least 98 in 100 are redacted completely', () => {
    const left = SECRETS.filter(isLeft);
    const told = left.map(({ kind, form, text }) => `${kind}, ${form}: ${text}`);
    expect(left.length, told.slice(0, 60).join('\n')).toBeLessThanOrEqual(SECRETS.length * 0.02);
  });

  it('there is one for every known kind', () => {
    const known = new Set([...RULES, ...NAMED_RULES].map(({ kind }) => kind));
    const written = new Set(SECRETS.map(({ kind }) => kind));
    expect([...known].filter((kind) => !written.has(kind))).toEqual([]);
    expect(known.size).toBeGreaterThanOrEqual(150);
  });

  it('every kind is labelled correctly', () => {
    const known = new Map<string, number>();
    for (const { kind, text } of SECRETS) {
      const redactor = makeRedactor();
      redactor.redactText(text);
      known.set(kind, (known.get(kind) ?? 0) + Number(redactor.redactions.some((found) => found.kind === kind)));
    }
    expect([...known].filter(([, count]) => count === 0)).toEqual([]);
  });
});
