import { HandoverError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import {
  type CacheDatabase,
  isCacheDamage,
  isCacheReplaced,
  openCacheFile,
  pathOfCache,
} from './cache-database.ts';
import type { SqlDatabase, SqlDriver } from './sql.ts';

/** How a cache is kept: both are loaded only when they are needed. */
export interface CacheKeeping {
  cache: CacheDatabase;
  /** Brings an open cache in line with the files, or throws what `isCacheDamage` knows. */
  update(database: SqlDatabase): void | Promise<void>;
  rebuild(): void | Promise<void>;
}

export interface OpenCache {
  /** Asks again of a cache that is built anew, when the damage shows only now. */
  ask<T>(question: (database: SqlDatabase) => T): Promise<T>;
  close(): void;
}

/** Opens a cache in line with the files. One that is missing, old or damaged is built anew. */
export async function openCache(store: Store, driver: SqlDriver, keeping: CacheKeeping): Promise<OpenCache> {
  let database = await openOrRebuild(store, driver, keeping);
  let isOpen = true;
  const close = (): void => {
    if (isOpen) database.close();
    isOpen = false;
  };
  return {
    close,
    ask: async (question) => {
      try {
        return question(database);
      } catch (error) {
        if (!isCacheDamage(error)) throw error;
        close();
        database = await rebuild(store, driver, keeping);
        isOpen = true;
        return question(database);
      }
    },
  };
}

const MAX_REPLACEMENTS = 3;

async function openOrRebuild(store: Store, driver: SqlDriver, keeping: CacheKeeping): Promise<SqlDatabase> {
  for (let attempt = 1; ; attempt++) {
    try {
      const database = openCacheFile(store, driver, keeping.cache);
      if (database !== null) return await updateOrClose(database, keeping);
      break;
    } catch (error) {
      if (isCacheReplaced(error) && attempt < MAX_REPLACEMENTS) continue;
      if (!isCacheDamage(error)) throw error;
      break;
    }
  }
  return await rebuild(store, driver, keeping);
}

async function updateOrClose(database: SqlDatabase, keeping: CacheKeeping): Promise<SqlDatabase> {
  try {
    await keeping.update(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

async function rebuild(store: Store, driver: SqlDriver, keeping: CacheKeeping): Promise<SqlDatabase> {
  await keeping.rebuild();
  const database = openCacheFile(store, driver, keeping.cache);
  // It may be the work of somebody else who came first, from before the last save of this process.
  if (database !== null) return await updateOrClose(database, keeping);
  throw new HandoverError('HANDOVER_STORE_DAMAGED', `${pathOfCache(store, keeping.cache)} cannot be built`, {
    hint: 'Set HANDOVER_SQLITE=none to work without an index, and run: handover doctor',
  });
}
