import { checkCacheSeal, type SealState } from '../platform/cache-database.ts';
import { changeCache, rebuildCache, withCacheLock } from '../platform/cache-writer.ts';
import type { SqlDatabase, SqlDriver } from '../platform/sqlite.ts';
import { CREATE_TABLES, INDEX } from './index-schema.ts';
import {
  extractForIndex,
  findNews,
  followFiles,
  type IndexEntry,
  isOutstanding,
  type MonthNews,
  type Progress,
} from './index-sync.ts';
import type { Store } from './store.ts';

/**
 * Brings an open index in line with the files, if it is not. Only then the lock is taken and something is written; and
 * not even then, if whoever had the lock before wrote all that was found missing.
 */
export function updateIndex(store: Store, database: SqlDatabase): void {
  const wanted = findNews(store, database);
  if (wanted.length === 0) return;
  const extract = extractAhead(store, wanted);
  withIndexLock(store, () => {
    const news = findNews(store, database);
    if (!isOutstanding(wanted, news)) return;
    changeCache(store, { cache: INDEX, database }, () => followFiles(database, { news, extract }));
  });
}

const MAX_AHEAD = 5000;

/** Reads what can be read before the lock is taken, so that others wait for the writing alone. */
function extractAhead(store: Store, news: readonly MonthNews[]): (id: string) => IndexEntry {
  const ids = news.flatMap(({ added }) => added).slice(0, MAX_AHEAD);
  const ahead = new Map(ids.map((id) => [id, extractForIndex(store, id)]));
  return (id) => ahead.get(id) ?? extractForIndex(store, id);
}

export function rebuildIndex(store: Store, driver: SqlDriver, progress?: Progress): void {
  rebuildCache(store, { cache: INDEX, driver }, (database) => {
    database.exec(CREATE_TABLES);
    followFiles(database, {
      news: findNews(store, database),
      extract: (id) => extractForIndex(store, id),
      progress,
    });
  });
}

export function withIndexLock<T>(store: Store, work: () => T): T {
  return withCacheLock(store, INDEX, work);
}

/** To be called under the index lock. */
export function checkIndexSeal(store: Store): SealState {
  return checkCacheSeal(store, INDEX);
}
