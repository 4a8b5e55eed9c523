import { checkCacheSeal, pathOfCache, RowDamage } from '../../platform/cache-database.ts';
import { changeCache, rebuildCache, withCacheLock } from '../../platform/cache-writer.ts';
import { pathExists } from '../../platform/folders.ts';
import type { SqlDatabase, SqlDriver } from '../../platform/sqlite.ts';
import type { Store } from '../../store/store.ts';
import { fillFullText, openFullText } from '../full-text.ts';
import { identifyArchive, listTexts, readText, unpackParts } from './archive.ts';
import type { FollowOptions, TextKeeper } from './follow-sessions.ts';
import type { Passage } from './passage.ts';
import { findRemains, restoreText } from './restore-text.ts';
import { findReading, listSessions, TextIndex } from './text-index.ts';
import { CREATE_TABLES, SESSION_INDEX, type SessionRow } from './text-schema.ts';

/**
 * Builds the index anew from the archives, or an empty one, which takes them in as far as there is time. What the agents
 * have besides is read afterwards.
 */
export function rebuildSessionIndex(
  store: Store,
  driver: SqlDriver,
  { isWhole }: { isWhole: boolean },
): void {
  if (pathExists(pathOfCache(store, SESSION_INDEX))) rescueTexts(store, driver);
  rebuildCache(store, { cache: SESSION_INDEX, driver }, (database) => {
    database.exec(CREATE_TABLES);
    fillFullText(database, (fullText) => {
      const index = new TextIndex(database, fullText);
      for (const name of isWhole ? listTexts(store) : []) takeIn(store, index, { name, gone: false });
    });
  });
}

/** What only the old index has of sessions that their agents have deleted must not go with it. */
function rescueTexts(store: Store, driver: SqlDriver): void {
  for (const name of listTexts(store)) {
    const remains = readText(store, name) === null ? findRemains(store, driver, name) : null;
    if (remains?.whole === true) restoreText(store, name, remains);
  }
}

/** An index whose bytes are not what was sealed is damaged, even where SQLite does not see it. */
export function checkSessionIndex(store: Store): void {
  if (withCacheLock(store, SESSION_INDEX, () => checkCacheSeal(store, SESSION_INDEX)) === 'broken')
    throw new RowDamage();
}

/** Keeps the index in line with the archives, and with the sessions that agents have. */
export function openIndexKeeper(
  store: Store,
  database: SqlDatabase,
  { deadline }: Pick<FollowOptions, 'deadline'> = {},
): TextKeeper {
  const change = (work: (index: TextIndex) => void): void =>
    withCacheLock(store, SESSION_INDEX, () =>
      changeCache(store, { cache: SESSION_INDEX, database }, () =>
        work(new TextIndex(database, openFullText(database))),
      ),
    );
  const { waiting, damaged } = followArchives(store, database, { change, deadline });
  return {
    waiting,
    damaged,
    known: () =>
      new Map(
        listSessions(database)
          .filter(({ name }) => !damaged.has(name))
          .map(({ name, head }) => [name, head]),
      ),
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

interface Following extends Pick<FollowOptions, 'deadline'> {
  change(work: (index: TextIndex) => void): void;
}

/** Takes in what others wrote and did not live to index, and takes out what is no longer kept. */
function followArchives(
  store: Store,
  database: SqlDatabase,
  { change, deadline = Number.POSITIVE_INFINITY }: Following,
): Pick<TextKeeper, 'waiting' | 'damaged'> {
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
  const waiting = new Set<string>();
  const damaged = new Set<string>();
  for (const name of changed) {
    const gone = sessions.get(name)?.gone ?? false;
    if (store.machine.clock.now() >= deadline) waiting.add(name);
    else if (readText(store, name) === null) damaged.add(name);
    else change((index) => takeIn(store, index, { name, gone }));
  }
  return { waiting, damaged };
}

/** A damaged archive tells nothing, and what is known of the session stays: it may be all that is left. */
function takeIn(store: Store, index: TextIndex, { name, gone }: { name: string; gone: boolean }): void {
  const archive = identifyArchive(store, name) ?? '';
  const text = readText(store, name);
  if (text === null) return;
  const { head, passages } = text;
  index.put({ name, head, archive, gone, reading: null, stays: 0, parts: [passages] });
}
