import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalize, computeChecksum, shortHash } from '../../src/model/hash.ts';

describe('the canonical form (RFC 8785)', () => {
  it('gives the example of the RFC', () => {
    const input = {
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonicalize(input)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('sorts keys by UTF-16 code unit, as the RFC shows', () => {
    const input = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
    expect(canonicalize(input)).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}');
  });

  it('refuses values without a canonical form', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '\ud800', undefined, () => 1, 1n]) {
      expect(() => canonicalize(value)).toThrow(TypeError);
    }
  });

  it('does not depend on the order of keys, and survives a round trip', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        fc.pre(JSON.stringify(value).isWellFormed());
        const text = canonicalize(value);
        expect(canonicalize(JSON.parse(text))).toBe(text);
        expect(canonicalize(reverseKeys(value))).toBe(text);
      }),
    );
  });
});

function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reverseKeys(member)]),
  );
}

describe('the checksum of a record', () => {
  it('covers everything but itself', () => {
    const record = { a: 1, b: ['x'] };
    const checksum = computeChecksum(record);
    expect(checksum).toMatch(/^[0-9a-f]{64}$/);
    expect(computeChecksum({ ...record, checksum })).toBe(checksum);
    expect(computeChecksum({ ...record, a: 2 })).not.toBe(checksum);
  });

  it('has stable short forms', () => {
    expect(shortHash('agent-handover', 16)).toBe('h8d2w78sfqdr7t5g');
  });
});
