import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isLeft, keepOutput, measureCuts, measureNamed } from '../../eval/redaction/recall.ts';
import { gradeName, NAMED_RULES } from '../../src/redact/rules/names.ts';
import { RULES } from '../../src/redact/rules/vendors.ts';
import { OPEN_NAMES, SECRET_NAMES } from '../fixtures/secrets/names.ts';
import { type LabelledSecret, writePlacements } from '../fixtures/secrets/write-secrets.ts';
import { makeRedactor } from '../support/redactor.ts';

const seed = randomInt(2 ** 31);
const SECRETS = writePlacements(seed);

/** What is left, with the seed to have it again. */
function tell(left: readonly LabelledSecret[]): string {
  return [`seed ${seed}`, ...left.slice(0, 60).map(({ kind, form, text }) => `${kind}, ${form}: ${text}`)].join('\n');
}

const GROUPS = ['kind', 'form'] as const;

const listLeft = (secrets: readonly LabelledSecret[]): LabelledSecret[] =>
  secrets.filter((secret) => isLeft(secret, keepOutput(secret.text)));

const count = (secrets: readonly LabelledSecret[], group: 'kind' | 'form', name: string): number =>
  secrets.filter((secret) => secret[group] === name).length;

describe('of secrets of every kind in all surroundings, filled at random', () => {
  it('there are 1,500 or more, of 250 kinds or more, one for every rule', () => {
    expect(SECRETS.length).toBeGreaterThanOrEqual(1500);
    const written = new Set(SECRETS.map(({ kind }) => kind));
    expect(written.size).toBeGreaterThanOrEqual(250);
    const known = new Set([...RULES, ...NAMED_RULES].map(({ kind }) => kind));
    expect([...known].filter((kind) => !written.has(kind))).toEqual([]);
  });

  it('at least 995 in 1,000 are redacted, of any kind and in any surroundings', () => {
    const left = listLeft(SECRETS);
    expect(left.length, tell(left)).toBeLessThanOrEqual(SECRETS.length * 0.005);
    const suspects = GROUPS.flatMap((group) =>
      [...new Set(left.map((secret) => secret[group]))].map((name) => ({ group, name })),
    ).filter(({ group, name }) => count(left, group, name) > count(SECRETS, group, name) * 0.005);
    if (suspects.length === 0) return;
    // One of a few may be left by chance. They are filled so often that chance does not matter, and the limit leaves it room.
    const isSuspect = (secret: LabelledSecret): boolean => suspects.some(({ group, name }) => secret[group] === name);
    const more = Array.from({ length: 40 }, (_, round) => writePlacements(seed + 7919 * (round + 1)).filter(isSuspect));
    const moreLeft = listLeft(more.flat());
    for (const { group, name } of suspects) {
      const expected = count(more.flat(), group, name) * 0.005;
      const limit = expected + 6 * Math.sqrt(expected) + 3;
      expect(count(moreLeft, group, name), tell([...left, ...moreLeft])).toBeLessThanOrEqual(limit);
    }
  }, 300_000);

  it('nothing is left where a long output is cut', () => {
    const { tried, left } = measureCuts(seed);
    expect(tried).toBeGreaterThan(1000);
    expect(left.length, tell(left)).toBeLessThanOrEqual(tried * 0.005);
  });

  it('every kind is labelled correctly', () => {
    const unknown = new Set(SECRETS.map(({ kind }) => kind));
    // Some may by chance be nothing, or look like another kind.
    for (let round = 0; unknown.size > 0 && round < 10; round++)
      for (const { kind, text } of writePlacements(seed + round)) {
        if (!unknown.has(kind)) continue;
        const redactor = makeRedactor();
        redactor.redactText(text);
        if (redactor.redactions.some((found) => found.kind === kind)) unknown.delete(kind);
      }
    expect([...unknown], `seed ${seed}`).toEqual([]);
  });
});

describe('a value under the name of a secret', () => {
  it('is redacted whatever it is made of', () => {
    const { tried, left } = measureNamed(seed, 4000);
    // About 1 in 1,500 is: `npm run eval:redaction` says how many exactly.
    expect(left.length, tell(left)).toBeLessThanOrEqual(tried * 0.005);
  });

  it.each(SECRET_NAMES)('%s is redacted', (name) => expect(gradeName(name)).not.toBeNull());

  it.each(OPEN_NAMES)('%s, which only looks like one, is not', (name) => {
    expect(['personal', 'secret']).not.toContain(gradeName(name));
  });
});
