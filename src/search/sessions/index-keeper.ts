import type { SqlDatabase, SqlDriver } from '../../platform/sql.ts';
import { RowDamage } from '../../store/cache-database.ts';
import { checkCacheSeal } from '../../store/cache-seal.ts';
import { changeCache, rebuildCache, withCacheLock } from '../../store/cache-writer.ts';
import type { Store } from '../../store/store.ts';
import { noteAllStems } from '../follow-handovers.ts';
import { finishBulk, prepareBulk } from '../full-text.ts';
import { identifyArchive, listTexts, readText, unpackParts } from './archive.ts';
import type { TextKeeper } from './follow-sessions.ts';
import type { Passage } from './passage.ts';
import { findReading, listSessions, TextIndex } from './text-index.ts';
import { CREATE_TABLES, SESSION_INDEX, type SessionRow } from './text-schema.ts';

/** Builds the index anew from the archives. What the agents have besides is read afterwards. */
export function rebuildSessionIndex(store: Store, driver: SqlDriver): void {
  rebuildCache(store, { cache: SESSION_INDEX, driver }, (database) => {
    database.exec(CREATE_TABLES);
    prepareBulk(database);
    const index = new TextIndex(database, { notesStems: false });
    for (const name of listTexts(store)) takeIn(store, index, { name, gone: false });
    noteAllStems(database);
    finishBulk(database);
  });
}

/** An index whose bytes are not what was sealed is damaged, even where SQLite does not see it. */
export function checkSessionIndex(store: Store): void {
  if (withCacheLock(store, SESSION_INDEX, () => checkCacheSeal(store, SESSION_INDEX)) === 'broken')
    throw new RowDamage();
}

/** Keeps the index in line with the archives, and with the sessions that agents have. */
export function openIndexKeeper(store: Store, database: SqlDatabase): TextKeeper {
  const change = (work: (index: TextIndex) => void): void =>
    withCacheLock(store, SESSION_INDEX, () =>
      changeCache(store, { cache: SESSION_INDEX, database }, () =>
        work(new TextIndex(database, { notesStems: true })),
      ),
    );
  followArchives(store, database, change);
  return {
    known: () => new Map(listSessions(database).map(({ name, head }) => [name, head])),
    reading: (name) => findReading(database, name),
    put: (name, head, { stays, parts, keep }) =>
      change((index) =>
        index.put({
          name,
          head,
          archive: identifyArchive(store, name) ?? '',
          gone: false,
          reading: keep,
          stays: stays.passages,
          parts: unpackEach(parts),
        }),
      ),
    settle: (live) => {
      const wrong = listSessions(database).filter(({ name, gone }) => gone === live.has(name));
      if (wrong.length > 0)
        change((index) => {
          for (const session of wrong) index.setGone(session, !live.has(session.name));
        });
    },
  };
}

function* unpackEach(parts: readonly Buffer[]): Generator<readonly Passage[]> {
  for (const part of parts) yield unpackParts(part)?.passages ?? [];
}

/** Takes in what others wrote and did not live to index, and takes out what is no longer kept. */
function followArchives(
  store: Store,
  database: SqlDatabase,
  change: (work: (index: TextIndex) => void) => void,
): void {
  const sessions = new Map(listSessions(database).map((session) => [session.name, session]));
  const kept = new Map(listTexts(store).map((name) => [name, identifyArchive(store, name)]));
  const isOld = ({ name, archive }: SessionRow): boolean => kept.get(name) !== archive;
  const removed = [...sessions.keys()].filter((name) => !kept.has(name));
  const changed = [...kept.keys()].filter((name) => {
    const session = sessions.get(name);
    return session === undefined || isOld(session);
  });
  if (removed.length > 0)
    change((index) => {
      for (const name of removed) index.remove(name);
    });
  for (const name of changed) {
    const gone = sessions.get(name)?.gone ?? false;
    change((index) => takeIn(store, index, { name, gone }));
  }
}

/** A damaged archive tells nothing; as long as the agent has the session, it is read again. */
function takeIn(store: Store, index: TextIndex, { name, gone }: { name: string; gone: boolean }): void {
  const archive = identifyArchive(store, name) ?? '';
  const text = readText(store, name);
  if (text === null) {
    index.remove(name);
    return;
  }
  const { head, passages } = text;
  index.put({ name, head, archive, gone, reading: null, stays: 0, parts: [passages] });
}
