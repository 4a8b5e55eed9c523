import {
  type CacheDatabase,
  type CacheFolder,
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
import { LOCKS } from './paths.ts';
import type { SqlDatabase, SqlDriver } from './sqlite.ts';

const LOCK_WAIT_MS = 2000;

/** Writers of a cache take turns, also those that replace the file, which SQLite's own lock cannot see. */
export function withCacheLock<T>(folder: CacheFolder, { name }: CacheName, work: () => T): T {
  const locks = ensurePrivateFolder(folder.root, LOCKS);
  return withLock({ folder: locks, name, waitMs: LOCK_WAIT_MS, clock: folder.machine.clock }, work);
}

/** Changes an open cache in one transaction, and seals it again. To be called under its lock. */
export function changeCache(
  folder: CacheFolder,
  { cache, database }: { cache: CacheDatabase; database: SqlDatabase },
  work: () => void,
): void {
  removeFile(pathOfSeal(folder, cache));
  inTransaction(database, work);
  sealCache(folder, cache);
}

/**
 * Builds a new cache beside the old one and renames it into place. The old one's rollback journal goes
 * first: next to the new file it would be taken for the new file's own. One that somebody else put there meanwhile is
 * left alone.
 */
export function rebuildCache(
  folder: CacheFolder,
  { cache, driver }: { cache: CacheDatabase; driver: SqlDriver },
  fill: (database: SqlDatabase) => void,
): void {
  const path = pathOfCache(folder, cache);
  const old = identifyFile(path);
  withCacheLock(folder, cache, () => {
    if (identifyFile(path) !== old) return;
    const temp = makeTempPath(path);
    try {
      buildCache(driver, temp, (database) => {
        fill(database);
        database.exec(`PRAGMA user_version = ${cache.version}`);
      });
      removeFile(pathOfSeal(folder, cache));
      removeFile(`${path}-journal`);
      moveFileDurably(temp, path);
    } catch (error) {
      removeFile(temp);
      throw error;
    }
    sealCache(folder, cache);
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

/** Removes a cache: whoever needs it rebuilds it. */
export function dropCache(folder: CacheFolder, cache: CacheName): void {
  withCacheLock(folder, cache, () => {
    const path = pathOfCache(folder, cache);
    for (const file of [pathOfSeal(folder, cache), `${path}-journal`, path]) removeFile(file);
  });
}

function sealCache(folder: CacheFolder, cache: CacheName): void {
  writeFileDurably(pathOfSeal(folder, cache), computeSeal(pathOfCache(folder, cache)));
}

/** Throws `RowDamage` when a cache is not as its last writer left it. */
export function assertSealed(folder: CacheFolder, cache: CacheName): void {
  if (withCacheLock(folder, cache, () => checkCacheSeal(folder, cache)) === 'broken') throw new RowDamage();
}
