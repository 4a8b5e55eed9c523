import { describe, expect, it } from 'vitest';
import { findBackticked, findDefinitions, findPaths } from '../../src/distill/names.ts';

describe('names in a text', () => {
  it('are found from the beginning of a text, whatever was looked for before', () => {
    const text = 'hooks.go and docs/guide.md';
    expect(findPaths(text)).toEqual(['hooks.go', 'docs/guide.md']);
    expect(findPaths('read settings.json')).toEqual(['settings.json']);
    expect(findPaths(text)).toEqual(['hooks.go', 'docs/guide.md']);
  });

  it('are given without the marks around them, each once', () => {
    expect(findBackticked('use `npm test` or ` make `, then `make`')).toEqual(['npm test', 'make']);
    expect(findDefinitions('func (s *Server) Listen() {}\nexport default async function loadAll() {}')).toEqual([
      'Listen',
      'loadAll',
    ]);
  });

  it('are declared by classes, types and functions of any language, not by calls', () => {
    const text = 'class Cart:\n  def total(self): pass\nstruct Basket;\nfn empty_it() {}\nconst limit = openCart(5);';
    expect(findDefinitions(text)).toEqual(['Cart', 'total', 'Basket', 'empty_it']);
  });
});
