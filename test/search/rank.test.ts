import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuse } from '../../src/search/rank.ts';

const lists = fc.array(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 15 }), { maxLength: 5 });

describe('fusing ranked lists', () => {
  it('has every key of every list once, best first', () => {
    fc.assert(
      fc.property(lists, (given) => {
        const fused = fuse(given.map((keys) => ({ keys })));
        const keys = fused.map(({ key }) => key);
        expect([...keys].sort((a, b) => a - b)).toEqual([...new Set(given.flat())].sort((a, b) => a - b));
        const scores = fused.map(({ score }) => score);
        expect(scores).toEqual([...scores].sort((a, b) => b - a));
      }),
    );
  });

  it('keeps the order of a single list', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), (keys) => {
        expect(fuse([{ keys }]).map(({ key }) => key)).toEqual(keys);
      }),
    );
  });

  it('does not depend on the order of the lists, but for what is equal', () => {
    fc.assert(
      fc.property(lists, (given) => {
        const scores = (of: typeof given): [number, string][] =>
          fuse(of.map((keys) => ({ keys })))
            .map(({ key, score }): [number, string] => [key, score.toFixed(9)])
            .sort(([a], [b]) => a - b);
        expect(scores([...given].reverse())).toEqual(scores(given));
      }),
    );
  });

  it('ranks higher what several lists have near the top', () => {
    const fused = fuse([{ keys: ['a', 'b', 'c'] }, { keys: ['d', 'b', 'e'] }]);
    expect(fused[0]?.key).toBe('b');
  });

  it('counts a list by its weight, and a key twice in it once', () => {
    const fused = fuse([{ keys: ['a'], weight: 0.5 }, { keys: ['b', 'b'] }]);
    expect(fused).toEqual([
      { key: 'b', score: 1 / 61 },
      { key: 'a', score: 0.5 / 61 },
    ]);
  });
});
