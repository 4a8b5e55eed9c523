import { describe, expect, it } from 'vitest';
import { NAMED_RULES } from '../../src/redact/rules/names.ts';
import { RULES } from '../../src/redact/rules/vendors.ts';

/** Without escaped characters and what stands in classes. */
function keepStructure(source: string): string {
  return source.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x');
}

describe('a redaction rule', () => {
  it.each(RULES.map(({ kind, pattern }) => [kind, pattern.source]))('%s has no unbounded repetition', (_, source) => {
    expect(keepStructure(source)).not.toMatch(/[*+](?![^(]*\))|\{\d+,\}/);
  });

  it.each(NAMED_RULES.map(({ kind, name, value }) => [kind, name.source, value.source]))(
    'by name, %s has no nested repetition',
    (_, ...sources) => {
      for (const source of sources) expect(keepStructure(source)).not.toMatch(/[*+}]\)[*+{]/);
    },
  );
});
