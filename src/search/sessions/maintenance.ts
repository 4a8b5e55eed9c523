import { join } from 'node:path';
import { findSessions } from '../../agents/find-session.ts';
import { isCacheDamage, openCacheFile } from '../../platform/cache-database.ts';
import { dropCache } from '../../platform/cache-writer.ts';
import { removeFile } from '../../platform/durable-file.ts';
import { listFolder } from '../../platform/folders.ts';
import { loadSqlDriver, type SqlDriver } from '../../platform/sqlite.ts';
import { type Finding, quarantineRemedy } from '../../store/doctor/check-files.ts';
import { QUARANTINE, type Store } from '../../store/store.ts';
import { listTexts, markForgotten, nameText, pathOfText, readText, removeText, type SessionHead } from './archive.ts';
import { openIndexStore, recoverText, restoreText } from './index-store.ts';
import { SESSION_INDEX } from './session-index.ts';

/**
 * Checks the archives of sessions. Once an agent has deleted a session, its archive is all that is left of it: a damaged
 * one is never thrown away.
 */
export async function checkTexts(store: Store): Promise<Finding[]> {
  const damaged = listTexts(store).filter((name) => {
    const text = readText(store, name);
    return text === null || nameText(text.head) !== name;
  });
  if (damaged.length === 0) return [];
  const live = new Set((await findSessions(store.machine)).map(nameText));
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  return damaged.map((name) => (live.has(name) ? describeReadable(store, name) : describeLost(store, driver, name)));
}

function describeReadable(store: Store, name: string): Finding {
  const path = pathOfText(store, name);
  const message = `${path}, the text of a session, is damaged. Its agent still has the session: the next search --sessions reads it again`;
  return { code: 'damaged-session-text', level: 'warning', path, message, remedy: quarantineRemedy(path, message) };
}

function describeLost(store: Store, driver: SqlDriver | null, name: string): Finding {
  const path = pathOfText(store, name);
  const remains = recoverText(store, driver, name);
  let left = 'none of it can be read';
  if (remains !== null)
    left = remains.whole
      ? 'the index still has all of it'
      : `${remains.passages.length} passages of it can still be read`;
  const message = `${path}, the text of a session that its agent has deleted, is damaged: ${left}`;
  const remedy =
    remains === null
      ? quarantineRemedy(path, message)
      : {
          description: 'copy it to the quarantine, and write it again from what is left',
          apply: () => restoreText(store, name, remains),
        };
  return { code: 'damaged-session-text', level: 'damage', path, message, remedy };
}

/** Sessions that their agents have deleted, and that did not change for this long. */
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

/** Deletes the archives of sessions, the copies of them in the quarantine, and their passages in the index. */
export function removeTexts(store: Store, heads: readonly Pick<SessionHead, 'agent' | 'id'>[]): void {
  const quarantine = join(store.root, QUARANTINE);
  for (const name of heads.map(nameText)) {
    removeText(store, name);
    for (const copy of listFolder(quarantine)) if (copy.includes(name)) removeFile(join(quarantine, copy));
  }
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  try {
    const database = driver === null ? null : openCacheFile(store, driver, SESSION_INDEX);
    if (database === null) {
      // An index that cannot be opened here, or is of another version, may contain the text.
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

/** Deletes the stored text of a session, and records that it must not be read again. */
export function forgetSession(store: Store, head: Pick<SessionHead, 'agent' | 'id'>): void {
  markForgotten(store, nameText(head));
  removeTexts(store, [head]);
}
