import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getPrefilter, Prefilter, TrigramTable } from '../../src/redact/prefilter.ts';
import { Lookahead } from '../../src/redact/rule.ts';

const char = fc.constantFrom(...'abAB-_1 ');
const literal = fc.string({ unit: char, minLength: 3, maxLength: 4 });
const pair = fc.tuple(fc.string({ unit: char, minLength: 2, maxLength: 2 }), fc.string({ unit: char, minLength: 1 }));
const text = fc.string({ unit: fc.oneof(char, fc.constantFrom('é', '…')), maxLength: 80 });

describe('TrigramTable', () => {
  it('finds every position of its trigrams and pairs, and in ASCII no other', () => {
    fc.assert(
      fc.property(fc.array(literal), fc.array(pair), text, (literals, pairs, searched) => {
        const table = new TrigramTable();
        for (const known of literals) table.addTrigram(known.slice(0, 3), known.charAt(3));
        for (const [two, thirds] of pairs) table.addPair(two, thirds);
        const bytes = Buffer.from(`${searched}   `, 'latin1');
        const found: number[] = [];
        for (let i = table.findNext(bytes, 0, searched.length); i < searched.length; ) {
          found.push(i);
          i = table.findNext(bytes, i + 1, searched.length);
        }
        const padded = `${searched}   `;
        const expected = Array.from(padded.slice(0, -3), (_, i) => i).filter(
          (i) =>
            literals.some((known) => padded.startsWith(known, i)) ||
            pairs.some(([two, thirds]) => padded.startsWith(two, i) && thirds.includes(padded.charAt(i + 2))),
        );
        expect(found).toEqual(expect.arrayContaining(expected));
        if (/^[\0-\x7f]*$/.test(searched)) expect(found).toEqual(expected);
      }),
    );
  });
});

describe('Prefilter', () => {
  it('is the same once it was packed and read again', () => {
    const packed = new Prefilter(new Prefilter().pack());
    const texts = fc.oneof(
      text,
      fc.constantFrom('AKIA', 'ghp_', 'password=', 'api_key: ', '\u0001x', '://', '-----BEGIN'),
    );
    fc.assert(
      fc.property(fc.array(texts), (parts) => {
        const searched = parts.join('');
        const bytes = Buffer.from(`${searched}   `, 'latin1');
        for (let at = 0; at < searched.length; at++) {
          expect(packed.find(searched, at)).toEqual(getPrefilter().find(searched, at));
          expect(packed.findShort(searched, at)).toEqual(getPrefilter().findShort(searched, at));
          for (const isWide of [false, true])
            expect(packed.chooseTable(isWide).findNext(bytes, at, searched.length)).toBe(
              getPrefilter().chooseTable(isWide).findNext(bytes, at, searched.length),
            );
        }
      }),
    );
  });
});

describe('Lookahead', () => {
  it('finds the next match of its pattern, for positions in any order', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(80)), (searched, places) => {
        const ahead = new Lookahead(searched, /[1-]/g);
        for (const place of places.filter((at) => at <= searched.length)) {
          const next = searched.slice(place).search(/[1-]/);
          expect(ahead.find(place)).toBe(next === -1 ? searched.length : place + next);
        }
      }),
    );
  });
});
