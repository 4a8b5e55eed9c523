import { HandoverError, isErrno } from '../errors.ts';
import { pathExists } from '../platform/folders.ts';
import { loadSqlDriver } from '../platform/sql.ts';
import type { Catalog } from './catalog.ts';
import { openIndexCatalog } from './index-catalog.ts';
import { isIndexTrouble } from './index-file.ts';
import type { Progress } from './index-sync.ts';
import { openScanCatalog } from './scan-catalog.ts';
import type { Store } from './store.ts';

export interface OpenedCatalog {
  catalog: Catalog;
  /** Why the index is not used although there could be one; null when all is well. */
  indexFailure: Error | null;
}

/** The index where there is one to be had, else the files themselves: a cache that fails must not keep anyone from them. */
export async function openCatalog(store: Store, progress?: Progress): Promise<OpenedCatalog> {
  if (!pathExists(store.root)) return { catalog: openScanCatalog(store), indexFailure: null };
  const driver = await loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  if (driver === null) return { catalog: openScanCatalog(store), indexFailure: null };
  try {
    return { catalog: openIndexCatalog(store, driver, progress), indexFailure: null };
  } catch (error) {
    if (!isSurvivable(error)) throw error;
    return { catalog: openScanCatalog(store), indexFailure: error };
  }
}

function isSurvivable(error: unknown): error is Error {
  return error instanceof HandoverError || isErrno(error) || isIndexTrouble(error);
}
