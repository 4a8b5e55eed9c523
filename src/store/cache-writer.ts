import { join } from 'node:path';
import { sha256Hex } from '../model/checksum.ts';
import {
  describeFileState,
  ensurePrivateFile,
  identifyFile,
  makeTempPath,
  measureRegularFile,
  moveFileDurably,
  readRegularFile,
  removeFile,
  syncFile,
  writeFileDurably,
} from '../platform/durable-file.ts';
import { withLock } from '../platform/lock.ts';
import { ensurePrivateFolder } from '../platform/private-folder.ts';
import type { SqlDatabase, SqlDriver } from '../platform/sql.ts';
import { type CacheDatabase, pathOfCache, RowDamage } from './cache-database.ts';
import { LOCKS, type Store } from './store.ts';

type CacheName = Pick<CacheDatabase, 'name'>;

const LOCK_WAIT_MS = 2000;

/** Writers of a cache take turns, also those that replace the file, which SQLite's own lock cannot see. */
export function withCacheLock<T>(store: Store, { name }: CacheName, work: () => T): T {
  const folder = ensurePrivateFolder(store.root, LOCKS);
  return withLock({ folder, name, waitMs: LOCK_WAIT_MS, clock: store.machine.clock }, work);
}

/** Changes an open cache in one transaction, and seals it again. To be called under its lock. */
export function changeCache(
  store: Store,
  { cache, database }: { cache: CacheDatabase; database: SqlDatabase },
  work: () => void,
): void {
  removeFile(pathOfSeal(store, cache));
  inTransaction(database, work);
  sealCache(store, cache);
}

/**
 * Builds a cache anew beside the old one and puts it in its place by a rename. The old one's rollback journal goes
 * first: next to the new file it would be taken for the new file's own. One that somebody else put there meanwhile is
 * left alone.
 */
export function rebuildCache(
  store: Store,
  { cache, driver }: { cache: CacheDatabase; driver: SqlDriver },
  fill: (database: SqlDatabase) => void,
): void {
  const path = pathOfCache(store, cache);
  const old = identifyFile(path);
  withCacheLock(store, cache, () => {
    if (identifyFile(path) !== old) return;
    const temp = makeTempPath(path);
    try {
      buildCache(driver, temp, (database) => {
        fill(database);
        database.exec(`PRAGMA user_version = ${cache.version}`);
      });
      removeFile(pathOfSeal(store, cache));
      removeFile(`${path}-journal`);
      moveFileDurably(temp, path);
    } catch (error) {
      removeFile(temp);
      throw error;
    }
    sealCache(store, cache);
  });
}

/** A file that nobody else knows needs no rollback journal and no flush but the last. */
function buildCache(driver: SqlDriver, path: string, fill: (database: SqlDatabase) => void): void {
  ensurePrivateFile(path);
  const database = driver.open(path);
  try {
    database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
    inTransaction(database, () => fill(database));
  } finally {
    database.close();
  }
  syncFile(path);
}

function inTransaction(database: SqlDatabase, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
  database.exec('COMMIT');
}

/** Removes a cache: whoever needs it builds it anew. */
export function dropCache(store: Store, cache: CacheName): void {
  withCacheLock(store, cache, () => {
    const path = pathOfCache(store, cache);
    for (const file of [pathOfSeal(store, cache), `${path}-journal`, path]) removeFile(file);
  });
}

/** Hashing a larger file would cost more than the update that it follows. */
const MAX_HASHED_BYTES = 8 * 1024 * 1024;

function pathOfSeal(store: Store, { name }: CacheName): string {
  return join(store.root, `${name}.sum`);
}

function sealCache(store: Store, cache: CacheName): void {
  writeFileDurably(pathOfSeal(store, cache), computeSeal(pathOfCache(store, cache)));
}

/**
 * The digest of a file, by which rot in any byte of it can be seen, also in bytes that SQLite does not use. Of a large one
 * only its size and time, by which it is seen that somebody else wrote to it; its rows have marks of their own.
 */
function computeSeal(path: string): string {
  if ((measureRegularFile(path) ?? 0) > MAX_HASHED_BYTES) return `as of ${describeFileState(path)}\n`;
  return `${sha256Hex(readRegularFile(path, MAX_HASHED_BYTES))}\n`;
}

export type SealState = 'intact' | 'broken' | 'none';

/** To be called under the lock: without it, a writer may be between its commit and its seal. */
export function checkCacheSeal(store: Store, cache: CacheName): SealState {
  const seal = pathOfSeal(store, cache);
  const path = pathOfCache(store, cache);
  if (measureRegularFile(seal) === null || measureRegularFile(path) === null) return 'none';
  return readRegularFile(seal, 1024).toString('latin1') === computeSeal(path) ? 'intact' : 'broken';
}

/** Throws `RowDamage` when a cache is not as its last writer left it. */
export function assertSealed(store: Store, cache: CacheName): void {
  if (checkCacheSeal(store, cache) !== 'broken') return;
  if (withCacheLock(store, cache, () => checkCacheSeal(store, cache)) === 'broken') throw new RowDamage();
}
