import { HandoverError, isErrno } from '../errors.ts';
import { isCacheTrouble } from '../platform/cache-database.ts';
import { pathExists } from '../platform/folders.ts';
import { loadSqlDriver } from '../platform/sqlite.ts';
import type { Finder, SearchDesk } from './finder.ts';

/** The index where there is one to be had, else the files themselves: a cache that fails must not keep anyone from them. */
export async function openFinder(desk: SearchDesk): Promise<Finder> {
  const { store } = desk;
  if (!pathExists(store.root)) return await openScan(desk);
  await (await import('../store/open-catalog.ts')).finishPendingImports(store);
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  if (driver === null) return await openScan(desk);
  try {
    return await (await import('./index-finder.ts')).openIndexFinder(desk, driver);
  } catch (error) {
    if (!(error instanceof HandoverError || isErrno(error) || isCacheTrouble(error))) throw error;
    return { ...(await openScan(desk)), indexFailure: error instanceof Error ? error : null };
  }
}

async function openScan(desk: SearchDesk): Promise<Finder> {
  return (await import('./scan-finder.ts')).openScanFinder(desk);
}
