import { LOCKS, type Store } from '../store/store.ts';
import {
  type CacheDatabase,
  type CacheName,
  checkCacheSeal,
  computeSeal,
  pathOfCache,
  pathOfSeal,
  RowDamage,
} from './cache-database.ts';
import {
  ensurePrivateFile,
  identifyFile,
  makeTempPath,
  moveFileDurably,
  removeFile,
  syncFile,
  writeFileDurably,
} from './durable-file.ts';
import { ensurePrivateFolder } from './folders.ts';
import { withLock } from './lock.ts';
import type { SqlDatabase, SqlDriver } from './sqlite.ts';

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

function sealCache(store: Store, cache: CacheName): void {
  writeFileDurably(pathOfSeal(store, cache), computeSeal(pathOfCache(store, cache)));
}

/** Throws `RowDamage` when a cache is not as its last writer left it. */
export function assertSealed(store: Store, cache: CacheName): void {
  if (withCacheLock(store, cache, () => checkCacheSeal(store, cache)) === 'broken') throw new RowDamage();
}
