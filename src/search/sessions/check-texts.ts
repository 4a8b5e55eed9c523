import { findSessions } from '../../agents/find-session.ts';
import { loadSqlDriver, type SqlDriver } from '../../platform/sqlite.ts';
import { type Finding, type Remedy, setAside } from '../../store/doctor/check-files.ts';
import type { Store } from '../../store/store.ts';
import { listTexts, nameText, pathOfText, readText } from './archive.ts';
import { findRemains, type Remains, restoreText } from './restore-text.ts';

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
