import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { remember } from '../../src/distill/command-line.ts';

describe('a function that remembers', () => {
  it('gives what the function gives, however often and in whatever order it is asked', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 2 })), fc.integer({ min: 1, max: 5 }), (texts, most) => {
        const measure = remember((text) => [text.length, text], most);
        for (const text of texts) expect(measure(text)).toEqual([text.length, text]);
      }),
    );
  });

  it('works out the same text once, as long as not many others came between', () => {
    const asked: string[] = [];
    const echo = remember((text) => {
      asked.push(text);
      return `${text}!`;
    }, 2);
    for (const text of ['a', 'b', 'a', 'c', 'a', 'd', 'e', 'f', 'g', 'b']) echo(text);
    expect(asked).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'b']);
  });
});
