import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern } from '../../../src/app/ask/path-query.ts';
import { locateInProject } from '../../../src/model/paths.ts';

describe('a path in a handover', () => {
  const place = { root: '~/shop', folder: 'web' };
  it.each([
    ['app.ts', 'observed', 'web/app.ts'],
    ['../lib/x.ts', 'observed', 'lib/x.ts'],
    ['lib/x.ts', 'declared', 'lib/x.ts'],
    ['/home/ann/shop/lib/x.ts', 'observed', 'lib/x.ts'],
    ['/Users/bo/shop/lib/x.ts', 'observed', 'lib/x.ts'],
    ['C:\\Users\\bo\\shop\\lib\\x.ts', 'observed', 'lib/x.ts'],
    ['/opt/home/shop/lib/x.ts', 'observed', 'lib/x.ts'],
    ['/etc/hosts', 'observed', '/etc/hosts'],
  ] as const)('%s, %s, resolves to %s', (text, trust, path) => {
    expect(locateInProject({ text, trust }, place, '/opt/home')).toBe(path);
  });
});

describe('a pattern of paths', () => {
  it.each([
    ['src/*.ts', ['src/a.ts'], ['src/b/a.ts', 'a.ts', 'src/a.tsx']],
    ['src/**/*.ts', ['src/a.ts', 'src/b/c/a.ts'], ['lib/a.ts']],
    ['**/a.ts', ['a.ts', 'x/y/a.ts'], ['xa.ts']],
    ['src/?.{ts,js}', ['src/a.ts', 'src/b.js'], ['src/ab.ts']],
    ['src/[!ab].ts', ['src/c.ts'], ['src/a.ts']],
    ['a[z-a]{', [], ['a']],
  ])('matches: %s', (pattern, fits, others) => {
    const test = compilePattern(pattern);
    expect(fits.filter((path) => !test.test(path))).toEqual([]);
    expect(others.filter((path) => test.test(path))).toEqual([]);
  });

  it('can be any text, and one without wildcards matches only itself', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(compilePattern(text)).toBeInstanceOf(RegExp);
      }),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^[\w./ +()$^|-]{1,20}$/), (text) => {
        expect(compilePattern(text).test(text)).toBe(true);
      }),
    );
  });
});
