import { describe, expect, it } from 'vitest';
import { SHAPES } from '../fixtures/secrets/shapes.ts';
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
  it('at least 98 in 100 are taken out whole', () => {
    const left = SECRETS.filter(isLeft);
    const told = left.map(({ kind, form, text }) => `${kind}, ${form}: ${text}`);
    expect(left.length, told.slice(0, 60).join('\n')).toBeLessThanOrEqual(SECRETS.length * 0.02);
  });

  it('there are 60 kinds and more', () => {
    expect(new Set(SHAPES.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(60);
  });
});
