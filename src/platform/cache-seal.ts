import { join } from 'node:path';
import { sha256Hex } from '../model/checksum.ts';
import type { Store } from '../store/store.ts';
import { type CacheDatabase, pathOfCache } from './cache-database.ts';
import { describeFileState, measureRegularFile, readRegularFile } from './durable-file.ts';

export type CacheName = Pick<CacheDatabase, 'name'>;

/** Hashing a larger file would cost more than the update that it follows. */
const MAX_HASHED_BYTES = 8 * 1024 * 1024;

export function pathOfSeal(store: Store, { name }: CacheName): string {
  return join(store.root, `${name}.sum`);
}

/**
 * The digest of a file, by which rot in any byte of it can be seen, also in bytes that SQLite does not use. Of a large one
 * only its size and time, by which it is seen that somebody else wrote to it; its rows have marks of their own.
 */
export function computeSeal(path: string): string {
  if ((measureRegularFile(path) ?? 0) > MAX_HASHED_BYTES) return `as of ${describeFileState(path)}\n`;
  return `${sha256Hex(readRegularFile(path, MAX_HASHED_BYTES))}\n`;
}

export type SealState = 'intact' | 'broken' | 'none';

/** Under the lock it is certain; without it, a writer may be between its commit and its seal. */
export function checkCacheSeal(store: Store, cache: CacheName): SealState {
  const seal = pathOfSeal(store, cache);
  const path = pathOfCache(store, cache);
  if (measureRegularFile(seal) === null || measureRegularFile(path) === null) return 'none';
  return readRegularFile(seal, 1024).toString('latin1') === computeSeal(path) ? 'intact' : 'broken';
}
