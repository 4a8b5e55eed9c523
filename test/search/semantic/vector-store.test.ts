import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadSqlDriver, loadVectorExtension } from '../../../src/platform/sqlite.ts';
import {
  normalizeVector,
  openVectorStore,
  VECTORS,
  type VectorStore,
} from '../../../src/search/semantic/vector-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeStore } from '../../support/temp-store.ts';

function open(store: Store, allowExtension: boolean, space = 'toy'): VectorStore {
  const file = openVectorStore(store, { space, allowExtension });
  if (file === null) throw new Error('there is no SQLite');
  return file;
}

const vectors = (numbers: number): fc.Arbitrary<Float32Array> =>
  fc
    .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: numbers, maxLength: numbers })
    .map((values) => normalizeVector(values) ?? Float32Array.from(values, (_, index) => (index === 0 ? 1 : 0)));

describe('stored vectors', () => {
  it('are compared by sqlite-vec where it is installed', () => {
    const database = loadSqlDriver(undefined)?.open(':memory:', { allowExtension: true });
    expect(database === undefined ? null : loadVectorExtension(database)).toBe(true);
    expect(() => database?.loadExtension?.('/nowhere')).toThrow();
    database?.close();
  });

  it('give the same neighbours with sqlite-vec and without, and the nearest first', () => {
    fc.assert(
      fc.property(fc.array(vectors(8), { minLength: 1, maxLength: 60 }), vectors(8), (all, query) => {
        const store = makeStore();
        const digests = all.map((_, index) => `d${index}`);
        const file = open(store, true);
        file.put(new Map(all.map((vector, index) => [`d${index}`, vector])));
        const asked = { vector: query, digests, limit: 10 };
        const found = file.findNeighbours(asked);
        file.close();
        const plain = open(store, false);
        expect(plain.findNeighbours(asked)).toEqual(found);
        plain.close();
        expect(found.map(({ likeness }) => likeness)).toEqual(
          found.map(({ likeness }) => likeness).sort((a, b) => b - a),
        );
        expect(found).toHaveLength(Math.min(10, all.length));
      }),
      { numRuns: 12 },
    );
  });

  it.each([true, false])('are searched only among the requested ones (sqlite-vec: %s)', (allowed) => {
    const file = open(makeStore(), allowed);
    const unit = Float32Array.from([1, 0]);
    file.put(
      new Map([
        ['a', unit],
        ['b', unit],
        ['c', Float32Array.from([0, 1])],
        ['long', Float32Array.from([1, 0, 0])],
      ]),
    );
    const found = file.findNeighbours({ vector: unit, digests: ['b', 'c', 'long', 'unknown'], limit: 5 });
    expect(found.map(({ digest }) => digest)).toEqual(['b', 'c']);
    expect(file.known(['a', 'long', 'unknown'], 2)).toEqual(new Set(['a']));
    file.close();
  });

  it('of another model are ignored', () => {
    const store = makeStore();
    const one = open(store, true, 'one');
    one.put(new Map([['a', Float32Array.from([1, 0])]]));
    one.close();
    const other = open(store, true, 'other');
    expect(other.known(['a'], 2).size).toBe(0);
    expect(other.get('a')).toBeNull();
    other.close();
  });

  it('are removed when their texts are deleted', () => {
    const file = open(makeStore(), true);
    const unit = Float32Array.from([1, 0]);
    file.put(
      new Map([
        ['a', unit],
        ['b', unit],
        ['c', unit],
      ]),
    );
    expect(file.keepOnly(['b'])).toBe(2);
    expect(file.known(['a', 'b', 'c'], 2)).toEqual(new Set(['b']));
    file.close();
  });

  it('are in a private file, which is recreated when invalid', () => {
    const store = makeStore();
    const path = join(store.root, VECTORS);
    open(store, true).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    for (const damage of [
      () => truncateSync(path, 50),
      () => writeFileSync(path, 'not a database, but long enough to be read as the header of one'.repeat(20)),
      () => writeFileSync(path, Buffer.concat([readFileSync(path).subarray(0, 60), Buffer.alloc(4000, 1)])),
    ]) {
      damage();
      const file = open(store, true);
      file.put(new Map([['a', Float32Array.from([1, 0])]]));
      expect(file.get('a')).toEqual(Float32Array.from([1, 0]));
      file.close();
    }
  });
});
