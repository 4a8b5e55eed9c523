import { join } from 'node:path';
import { findSessions } from '../../agents/find-session.ts';
import { isCacheDamage, openCacheFile } from '../../platform/cache-database.ts';
import { dropCache } from '../../platform/cache-writer.ts';
import { removeFile } from '../../platform/durable-file.ts';
import { listFolder } from '../../platform/folders.ts';
import { loadSqlDriver } from '../../platform/sqlite.ts';
import { QUARANTINE, type Store } from '../../store/store.ts';
import { listTexts, markForgotten, nameText, readText, removeText, type SessionHead } from './archive.ts';
import { openIndexKeeper } from './index-keeper.ts';
import { SESSION_INDEX } from './text-schema.ts';

/** The sessions that only their kept text is left of, and that nothing was said in for so long. */
export async function findExpiredTexts(store: Store, retentionMs: number): Promise<SessionHead[]> {
  const names = listTexts(store);
  if (names.length === 0) return [];
  const live = new Set((await findSessions(store.machine)).map(nameText));
  const now = store.machine.clock.now();
  return names
    .filter((name) => !live.has(name))
    .flatMap((name) => readText(store, name)?.head ?? [])
    .filter(({ changedMs }) => now - changedMs > retentionMs);
}

/** Deletes what is kept of sessions, here and in the index. */
export function removeTexts(store: Store, heads: readonly Pick<SessionHead, 'agent' | 'id'>[]): void {
  for (const head of heads) {
    removeText(store, nameText(head));
    removeSetAside(store, nameText(head));
  }
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  try {
    const database = driver === null ? null : openCacheFile(store, driver, SESSION_INDEX);
    if (database === null) {
      // What cannot be opened here, or is of another version, may hold the text all the same.
      dropCache(store, SESSION_INDEX);
      return;
    }
    try {
      openIndexKeeper(store, database);
    } finally {
      database.close();
    }
  } catch (error) {
    if (!isCacheDamage(error)) throw error;
    dropCache(store, SESSION_INDEX);
  }
}

/** Copies of damaged archives hold text as well. */
function removeSetAside(store: Store, name: string): void {
  const folder = join(store.root, QUARANTINE);
  for (const copy of listFolder(folder)) if (copy.includes(name)) removeFile(join(folder, copy));
}

/** The same for one session, which is not read again either. */
export function forgetSession(store: Store, head: Pick<SessionHead, 'agent' | 'id'>): void {
  markForgotten(store, nameText(head));
  removeTexts(store, [head]);
}
