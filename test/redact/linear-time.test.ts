import { describe, expect, it } from 'vitest';
import { NAMED_RULES } from '../../src/redact/rules/names.ts';
import { RULES } from '../../src/redact/rules/vendors.ts';
import { listAdversaries } from '../fixtures/secrets/adversaries.ts';
import { makeRedactor } from '../support/redactor.ts';

/** Without escaped characters and what stands in classes. */
function keepStructure(source: string): string {
  return source.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x');
}

describe('a rule', () => {
  it.each(RULES.map(({ kind, pattern }) => [kind, pattern.source]))(
    '%s repeats nothing without a bound',
    (_, source) => {
      expect(keepStructure(source)).not.toMatch(/[*+](?![^(]*\))|\{\d+,\}/);
    },
  );

  it.each(NAMED_RULES.map(({ kind, name, value }) => [kind, name.source, value.source]))(
    'by name, %s repeats nothing within something that repeats',
    (_, ...sources) => {
      for (const source of sources) expect(keepStructure(source)).not.toMatch(/[*+}]\)[*+{]/);
    },
  );
});

describe('texts that have all that rules look for', () => {
  // What is not linear in the length takes minutes here; how fast it is, is measured by the bench.
  it('are looked through to their end', { timeout: 240_000 }, () => {
    for (const { name, write } of listAdversaries()) {
      const text = write(30_000);
      expect(makeRedactor().redactText(text).length, name).toBeGreaterThan(0);
    }
  });
});
