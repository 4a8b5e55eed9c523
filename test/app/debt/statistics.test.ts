import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findMedian } from '../../../src/app/debt/statistics.ts';

describe('the interval of a median', () => {
  it('is that of the tables for the sign test', () => {
    const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);
    expect(findMedian(upTo(5))).toEqual({ median: 3, low: null, high: null });
    expect(findMedian(upTo(6))).toEqual({ median: 3.5, low: 1, high: 6 });
    expect(findMedian(upTo(10))).toEqual({ median: 5.5, low: 2, high: 9 });
    expect(findMedian(upTo(20))).toEqual({ median: 10.5, low: 6, high: 15 });
    expect(findMedian(upTo(100))).toEqual({ median: 50.5, low: 40, high: 61 });
    expect(findMedian([])).toBeNull();
  });

  it('holds the median, and does not depend on the order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 6, maxLength: 3000 }), (numbers) => {
        const { median, low, high } = findMedian(numbers) ?? { median: Number.NaN, low: null, high: null };
        expect(low).toBeLessThanOrEqual(median);
        expect(high).toBeGreaterThanOrEqual(median);
        expect(findMedian(numbers.toReversed())).toEqual({ median, low, high });
      }),
      { numRuns: 50 },
    );
  });
});
