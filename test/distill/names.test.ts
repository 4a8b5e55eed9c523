import { describe, expect, it } from 'vitest';
import { findBackticked, findDefinitions, findPaths, findTodos } from '../../src/distill/names.ts';
import { hasTodo } from '../../src/handover/file-claims.ts';

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

  it('of what is left to do end before the end of the comment', () => {
    const lines = [
      '// TODO: more',
      '/* TODO: more */',
      '{/* TODO: more */}',
      '<!-- TODO: more -->',
      '{# TODO: more #}',
    ];
    for (const line of lines) expect(findTodos(line)).toEqual(['TODO: more']);
    for (const line of lines) expect(hasTodo(line, 'TODO: more */')).toBe(true);
  });

  it('are declared by classes, types and functions of any language, not by calls', () => {
    const text = 'class Cart:\n  def total(self): pass\nstruct Basket;\nfn empty_it() {}\nconst limit = openCart(5);';
    expect(findDefinitions(text)).toEqual(['Cart', 'total', 'Basket', 'empty_it']);
    expect(findDefinitions('import {\n  type CartItem,\n  type Basket\n} from "./cart";\ntype Total = 1;')).toEqual([
      'Total',
    ]);
  });

  it('are not declared by words of a sentence', () => {
    const text =
      '// the function return value of a class that\n * this type refund is shown in the module default\ncall(function later() {})';
    expect(findDefinitions(text)).toEqual([]);
    expect(findDefinitions('  pub(crate) unsafe fn read_all() {}\n\tprotected static class Parser {}')).toEqual([
      'read_all',
      'Parser',
    ]);
  });
});
