import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';
import { describe, expect, it } from 'vitest';
import { findBySecretlint, PRESET_LITERALS } from '../../src/redact/secretlint.ts';
import { type LabelledSecret, writeSecrets } from '../fixtures/secrets/write-secrets.ts';
import { makeRedactor } from '../support/redactor.ts';

const WITHOUT = ['filter-comments', 'gcp'];

const PREFIX = '@secretlint/secretlint-rule-';

type Registered = Parameters<Parameters<typeof creator.create>[0]['registerRule']>[0];

function listPresetRules(): Registered[] {
  const rules: Registered[] = [];
  creator.create({ sharedOptions: {}, registerRule: (rule) => rules.push(rule) }, {});
  return rules;
}

/** What the preset finds in the whole text. */
async function lintWhole(text: string): Promise<string[]> {
  const rules = listPresetRules().filter(({ meta }) => !WITHOUT.includes(meta.id.slice(PREFIX.length)));
  const { messages } = await lintSource({
    source: { content: text, filePath: 'text.txt', ext: '.txt', contentType: 'text' },
    options: { config: { rules: rules.map((rule) => ({ id: rule.meta.id, rule })) } },
  });
  return messages.map(({ range }) => range.join()).sort();
}

describe('secretlint as a second opinion', () => {
  it('has literals for every rule of the preset', () => {
    const names = listPresetRules().map(({ meta }) => meta.id.slice(PREFIX.length));
    expect([...PRESET_LITERALS.keys(), ...WITHOUT].sort()).toEqual(names.sort());
    for (const literal of [...PRESET_LITERALS.values()].flat()) expect(literal).toMatch(/^[!-~]{4,}$/);
  });

  it('finds in the ranges around literals all that the preset finds in the whole text', async () => {
    let found = 0;
    const secrets = writeSecrets(900, 9);
    for (let at = 0; at < secrets.length; at += 20) {
      const [first, ...others] = secrets.slice(at, at + 20).map(({ text }) => text);
      // One at the border of two windows.
      const text = [`${'just some words '.repeat(4090)}${'x'.repeat(at / 7)} ${first}`, ...others].join(
        `\n${'and others '.repeat(300)}\n`,
      );
      const spans = await findBySecretlint(text);
      expect(spans.map(({ start, end }) => [start, end].join()).sort()).toEqual(await lintWhole(text));
      found += spans.length;
    }
    expect(found).toBeGreaterThan(50);
  });

  it('cannot be disabled by a comment in the text', async () => {
    const token = `ghp${'_'}${'aB3'.repeat(12)}`;
    expect(await findBySecretlint(token)).toHaveLength(1);
    expect(await findBySecretlint(`secretlint-disable\n${token} secretlint-disable-line`)).toHaveLength(1);
  });

  it('finds nothing beyond our own rules in the labelled secrets', async () => {
    let found = 0;
    const missed: string[] = [];
    for (const secret of writeSecrets(1800, 5)) {
      for (const { kind, start, end } of await findBySecretlint(secret.text)) {
        found++;
        if (isLeft(secret, { start, end })) missed.push(`${kind}: ${secret.text}`);
      }
    }
    expect(found).toBeGreaterThan(100);
    expect(missed).toEqual([]);
  });
});

function isLeft({ text, secret }: LabelledSecret, { start, end }: { start: number; end: number }): boolean {
  const left = makeRedactor().redactText(text);
  return left.includes(secret) || left.includes(text.slice(start, end));
}
