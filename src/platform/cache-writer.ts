import { rescue } from '../errors.ts';
import {
  type CacheDatabase,
  type CacheFolder,
  type CacheName,
  checkCacheSeal,
  computeSeal,
  isCacheTrouble,
  openCacheFile,
  pathOfCache,
  pathOfSeal,
  RowDamage,
} from './cache-database.ts';
import {
  discardOnFailure,
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
    discardOnFailure(temp, () => {
      buildCache(driver, temp, (database) => {
        fill(database);
        database.exec(`PRAGMA user_version = ${cache.version}`);
      });
      removeFile(pathOfSeal(folder, cache));
      removeFile(`${path}-journal`);
      moveFileDurably(temp, path);
    });
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

export function inTransaction(database: SqlDatabase, work: () => void, begin = 'BEGIN IMMEDIATE'): void {
  database.exec(begin);
  try {
    work();
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
  database.exec('COMMIT');
}

/**
 * Writes a cache anew without what was deleted from it: what SQLite moves between pages stays behind in them, though it overwrites
 * what it deletes. One that cannot be written now is removed.
 */
export function compactCache(folder: CacheFolder, driver: SqlDriver, cache: CacheDatabase): void {
  const compact = (): void =>
    withCacheLock(folder, cache, () => {
      const database = openCacheFile(folder, driver, cache);
      if (database === null) return;
      try {
        removeFile(pathOfSeal(folder, cache));
        database.exec('VACUUM');
      } finally {
        database.close();
      }
      sealCache(folder, cache);
    });
  rescue(
    (error): error is unknown => isCacheTrouble(error),
    () => dropCache(folder, cache),
    compact,
  );
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
