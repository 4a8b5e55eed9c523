import { join } from 'node:path';
import { findSessions } from '../../app/capture/find-session.ts';
import { isCacheDamage, openCacheFile } from '../../platform/cache-database.ts';
import { dropCache } from '../../platform/cache-writer.ts';
import { removeFile } from '../../platform/durable-file.ts';
import { listFolder } from '../../platform/folders.ts';
import { loadSqlDriver, type SqlDriver } from '../../platform/sqlite.ts';
import { setAside } from '../../store/doctor/check-files.ts';
import type { Finding, Remedy } from '../../store/doctor/finding.ts';
import { QUARANTINE, type Store } from '../../store/store.ts';
import {
  listTexts,
  markForgotten,
  nameText,
  pathOfText,
  readText,
  removeText,
  type SessionHead,
} from './archive.ts';
import { findRemains, openIndexStore, type Remains, restoreText } from './index-store.ts';
import { SESSION_INDEX } from './session-index.ts';

/**
 * Looks whether the text that is kept of sessions is whole. Where the agent has deleted a session, nothing but that is left
 * of it: what is damaged is never thrown away.
 */
export async function checkTexts(store: Store): Promise<Finding[]> {
  const damaged = listTexts(store).filter((name) => !isIntact(store, name));
  if (damaged.length === 0) return [];
  const live = new Set((await findSessions(store.machine)).map(nameText));
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  return damaged.map((name) =>
    live.has(name) ? describeReadable(store, name) : describeLost(store, driver, name),
  );
}

function isIntact(store: Store, name: string): boolean {
  const text = readText(store, name);
  return text !== null && nameText(text.head) === name;
}

function describeReadable(store: Store, name: string): Finding {
  const path = pathOfText(store, name);
  const message = `${path}, the text of a session, is damaged. Its agent still has the session: the next search --sessions reads it again`;
  return { code: 'damaged-session-text', level: 'warning', path, message, remedy: setAside(path, message) };
}

function describeLost(store: Store, driver: SqlDriver | null, name: string): Finding {
  const path = pathOfText(store, name);
  const remains = findRemains(store, driver, name);
  const message = `${path}, the text of a session that its agent has deleted, is damaged: ${tellRemains(remains)}`;
  const remedy = remains === null ? setAside(path, message) : describeRestoring(name, remains);
  return { code: 'damaged-session-text', level: 'damage', path, message, remedy };
}

function tellRemains(remains: Remains | null): string {
  if (remains === null) return 'none of it can be read';
  return remains.whole
    ? 'the index still has all of it'
    : `${remains.passages.length} passages of it can still be read`;
}

function describeRestoring(name: string, remains: Remains): Remedy {
  return {
    description: 'copy it to the quarantine, and write it anew from what is left',
    apply: (store) => restoreText(store, name, remains),
  };
}

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
      openIndexStore(store, database);
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
