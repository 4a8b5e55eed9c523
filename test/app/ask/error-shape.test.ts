import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareErrors, normaliseError } from '../../../src/app/ask/error-shape.ts';

const same: readonly (readonly [string, string])[] = [
  [
    "/home/ann/shop/src/cart.ts:41:7 - error TS2345: Argument of type 'string' is not assignable",
    "src/cart.ts(3,12): error TS2345: Argument of type 'string' is not assignable",
  ],
  [
    'Error: listen EADDRINUSE: address already in use :::3000',
    'Error: listen EADDRINUSE: address already in use 127.0.0.1:8081',
  ],
  ['fatal: bad object 3f2a91bc04d', 'fatal: bad object 99aa01ff0b2c7d'],
  ['Timed out after 30000ms waiting for the lock', 'Timed out after 5.5s waiting for the lock'],
  ['2026-01-31T12:00:00Z worker 7 crashed: out of memory', '2026-02-03 08:11:09,123 worker 12 crashed: out of memory'],
  [
    "ENOENT: no such file or directory, open '/a/b/conf.json'",
    "ENOENT: no such file or directory, open 'C:\\x\\conf.json'",
  ],
  ['  File "/srv/app/models.py", line 12, in save', 'File "/home/bo/app/models.py", line 99, in save'],
  [
    'request 6f1c2d3e-aaaa-bbbb-cccc-0123456789ab was refused',
    'request 00000000-1111-2222-3333-444444444444 was refused',
  ],
];

const other: readonly (readonly [string, string])[] = [
  ['error TS2345: Argument of type string', 'error TS2322: Argument of type string'],
  ['Request failed with status code 404', 'Request failed with status code 500'],
  ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ETIMEDOUT 127.0.0.1:5432'],
];

describe('the shape of an error', () => {
  it.each(same)('is the same for %j and %j', (a, b) => {
    expect(normaliseError(a).text).toBe(normaliseError(b).text);
    expect(compareErrors(normaliseError(a), normaliseError(b))).toBe('same');
  });

  it.each(other)('differs for %j and %j', (a, b) => {
    expect(normaliseError(a).text).not.toBe(normaliseError(b).text);
  });

  it('compares errors: same in another file, similar words, different', () => {
    const asked = normaliseError("src/a.ts:1:2 error TS2345: Argument of type 'x' is not assignable");
    const alike = normaliseError("src/b.ts:9:2 error TS2345: Argument of type 'x' is not assignable");
    const near = normaliseError("error TS2345: Argument of type 'y' is not assignable");
    expect(compareErrors(asked, alike)).toBe('alike');
    expect(compareErrors(asked, near)).toBe('near');
    expect(compareErrors(asked, normaliseError('fatal: bad object 3f2a91bc04d'))).toBeNull();
  });

  const word = fc.stringMatching(/^[a-z]{2,9}$/);
  const number = fc.nat(1_000_000).map(String);
  const hash = fc.stringMatching(/^[0-9a-f]{12}$/).filter((text) => /\d/.test(text) && /[a-f]/.test(text));
  const folder = fc.array(word, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join('/')}`);

  it('of a shape is the shape itself', () => {
    const any = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.oneof(word, number, hash, folder)).map((all) => all.join(' ')),
    );
    fc.assert(
      fc.property(any, (line) => {
        const { text } = normaliseError(line);
        expect(normaliseError(text).text).toBe(text);
      }),
    );
  });

  it('does not depend on numbers, hashes, folders and positions', () => {
    const place = fc.record({ folder, line: number, column: number, count: number, hash });
    fc.assert(
      fc.property(word, fc.array(word, { minLength: 3 }), place, place, (name, words, one, two) => {
        const tell = ({ folder, line, column, count, hash }: typeof one): string =>
          `${folder}/${name}.ts:${line}:${column}: ${words.join(' ')} ${count} of ${hash}`;
        expect(normaliseError(tell(one))).toEqual(normaliseError(tell(two)));
      }),
    );
  });
});
