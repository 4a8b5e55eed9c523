import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findParts, hasPart } from '../../src/distill/names.ts';

describe('the headings and keys of a file', () => {
  it.each<[path: string, text: string, parts: string[]]>([
    [
      'notes.md',
      '# Notes\n\n## Set up ##\ntext\n```sh\n# no heading\n```\n#no-space\n### After',
      ['Notes', 'Set up', 'After'],
    ],
    [
      'package.json',
      '{ "scripts": { "build": "a \\"b\\": c" },\n  "type" : "module", "list": ["x", ":", "y"] }',
      ['scripts', 'build', 'type', 'list'],
    ],
    [
      'ci.yml',
      'name: CI\n# off: 1\njobs:\n  test:\n    - uses: a/b@v4\n      "with":\n        key: x\nurl: http://a',
      ['name', 'jobs', 'test', 'uses', 'with', 'key', 'url'],
    ],
    [
      'Cargo.toml',
      '[package]\nname = "a"\n# old = 1\n[[bin]]\n[tool.ruff]\nline-length = 100',
      ['package', 'name', 'bin', 'tool.ruff', 'line-length'],
    ],
    ['setup.cfg', '[metadata]\nname=a\n; gone = 1\nversion: 2', ['metadata', 'name', 'version']],
    ['main.ts', 'const a = { key: 1 };', []],
  ])('of %s are found by its form', (path, text, parts) => {
    expect(findParts(path, text)).toEqual(parts);
    for (const part of parts) expect(hasPart(path, text, part)).toBe(true);
    for (const part of parts) expect(hasPart(path, text.replaceAll(part, `${part}x`), part)).toBe(false);
  });

  it('are still there at another level, in other quotes, and in another order', () => {
    expect(hasPart('a.md', '#### Set up', 'Set up')).toBe(true);
    expect(hasPart('a.yaml', "{one: 1, 'two': 2}", 'two')).toBe(true);
    expect(hasPart('a.toml', 'tool.ruff.line-length = 1', 'line-length')).toBe(true);
    expect(hasPart('a.toml', '[tool.ruff.lint]', 'tool.ruff')).toBe(true);
    expect(hasPart('a.toml', 'orders.limit = 1', 'orders')).toBe(true);
    expect(hasPart('a.toml', '[orders]\nlimit = 1', 'orders.limit')).toBe(true);
  });

  it('are not what is only mentioned, commented out, or longer', () => {
    expect(hasPart('a.md', 'See how to Set up the thing', 'Set up')).toBe(false);
    expect(hasPart('a.toml', '[orders]\nlimit = 1', 'orders.retries')).toBe(false);
    expect(hasPart('a.yaml', '# retries: 3\nmax-retries: 4\nretries-max: 5', 'retries')).toBe(false);
    expect(hasPart('a.json', '{ "note": "retries" }', 'retries')).toBe(false);
  });

  it('that were found are there, whatever the text holds', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('#', '# ', '"', ':', '=', '[', ']', '\n', '- ', 'key', '```', ' '),
    );
    const text = fc.array(part, { maxLength: 40 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.constantFrom('a.md', 'a.json', 'a.yml', 'a.toml', 'a.ini'), text, (path, written) => {
        for (const found of findParts(path, written)) expect(hasPart(path, written, found)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});
