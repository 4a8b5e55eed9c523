import { HandoverError, isErrno } from '../errors.ts';
import { isCacheTrouble } from '../platform/cache-database.ts';
import { pathExists } from '../platform/folders.ts';
import { loadSqlDriver } from '../platform/sqlite.ts';
import type { Catalog } from './catalog.ts';
import { openIndexCatalog } from './index-catalog.ts';
import type { Progress } from './index-sync.ts';
import { hasArrivals, type Store } from './store.ts';

export interface OpenedCatalog {
  catalog: Catalog;
  /** Why the index is not used although there could be one; null when all is well. */
  indexFailure: Error | null;
}

/** The index where there is one to be had, else the files themselves: a cache that fails must not keep anyone from them. */
export async function openCatalog(store: Store, progress?: Progress): Promise<OpenedCatalog> {
  if (!pathExists(store.root)) return { catalog: await openScan(store), indexFailure: null };
  await finishOpenArrivals(store);
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  if (driver === null) return { catalog: await openScan(store), indexFailure: null };
  try {
    return { catalog: await openIndexCatalog(store, driver, progress), indexFailure: null };
  } catch (error) {
    if (!isSurvivable(error)) throw error;
    return { catalog: await openScan(store), indexFailure: error };
  }
}

/** What came in belongs to the list. Where that cannot be finished now, the rest is listed all the same. */
export async function finishOpenArrivals(store: Store): Promise<void> {
  if (!hasArrivals(store)) return;
  try {
    (await import('./arrivals.ts')).finishArrivals(store);
  } catch (error) {
    if (!isSurvivable(error)) throw error;
  }
}

async function openScan(store: Store): Promise<Catalog> {
  return (await import('./scan-catalog.ts')).openScanCatalog(store);
}

function isSurvivable(error: unknown): error is Error {
  return error instanceof HandoverError || isErrno(error) || isCacheTrouble(error);
}
