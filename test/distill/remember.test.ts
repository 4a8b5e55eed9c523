import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { remember } from '../../src/distill/command-line.ts';

describe('remember', () => {
  it('returns what the function returns, for texts in any order and number', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 2 })), fc.integer({ min: 1, max: 5 }), (texts, most) => {
        const measure = remember((text) => [text.length, text], most);
        for (const text of texts) expect(measure(text)).toEqual([text.length, text]);
      }),
    );
  });

  it('computes a text once, unless many others came in between', () => {
    const asked: string[] = [];
    const echo = remember((text) => {
      asked.push(text);
      return `${text}!`;
    }, 2);
    for (const text of ['a', 'b', 'a', 'c', 'a', 'd', 'e', 'f', 'g', 'b']) echo(text);
    expect(asked).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'b']);
  });
});
