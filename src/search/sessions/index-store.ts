import { join } from 'node:path';
import { sha256Hex } from '../../model/hash.ts';
import {
  checkCacheSeal,
  isCacheDamage,
  openCacheFile,
  pathOfCache,
  RowDamage,
} from '../../platform/cache-database.ts';
import { changeCache, rebuildCache, withCacheLock } from '../../platform/cache-writer.ts';
import { writeFileDurably } from '../../platform/durable-file.ts';
import { pathExists } from '../../platform/folders.ts';
import type { SqlDatabase, SqlDriver } from '../../platform/sqlite.ts';
import { setCopyAside } from '../../store/quarantine.ts';
import { SESSION_TEXTS, type Store } from '../../store/store.ts';
import { fillFullText, openFullText } from '../full-text.ts';
import {
  identifyArchive,
  listTexts,
  packPart,
  pathOfText,
  readArchive,
  readText,
  type SessionText,
  salvageParts,
  unpackParts,
} from './archive.ts';
import type { Passage } from './passage.ts';
import {
  CREATE_TABLES,
  findReading,
  listSessions,
  PASSAGE_COLUMNS,
  readPassageRow,
  SESSION_INDEX,
  SessionIndexWriter,
  type SessionRow,
} from './session-index.ts';
import type { SessionTextStore, SyncOptions } from './sync.ts';

/** What else is left of a session whose archive is damaged: all that the index has, or the parts that are whole. */
export type Remains = SessionText & { whole: boolean };

export function findRemains(store: Store, driver: SqlDriver | null, name: string): Remains | null {
  const indexed = driver === null ? null : findInIndex(store, driver, name);
  if (indexed !== null) return { ...indexed, whole: true };
  const salvaged = salvageParts(readArchive(store, name) ?? Buffer.alloc(0));
  return salvaged === null ? null : { ...salvaged, whole: false };
}

/** Writes the archive of a session anew from what is left, after a copy of the damaged one was set aside. */
export function restoreText(store: Store, name: string, { head, passages }: SessionText): void {
  const bytes = readArchive(store, name) ?? Buffer.alloc(0);
  const path = pathOfText(store, name);
  setCopyAside(store, {
    name: `${name}-${sha256Hex(bytes).slice(0, 12)}.gz`,
    bytes,
    from: join(SESSION_TEXTS, `${name}.gz`),
    reason: `${path} was damaged`,
  });
  writeFileDurably(path, packPart(head, passages));
}

function findInIndex(store: Store, driver: SqlDriver, name: string): SessionText | null {
  try {
    const database = openCacheFile(store, driver, SESSION_INDEX);
    if (database === null) return null;
    try {
      return readIndexed(database, name);
    } finally {
      database.close();
    }
  } catch (error) {
    if (isCacheDamage(error)) return null;
    throw error;
  }
}

function readIndexed(database: SqlDatabase, name: string): SessionText | null {
  const session = listSessions(database).find((known) => known.name === name);
  if (session === undefined) return null;
  const passages = database
    .prepare(`SELECT ${PASSAGE_COLUMNS} FROM passages WHERE session = ? ORDER BY place`)
    .all(session.key)
    .map((row) => {
      const { line, offset, at, speaker, text } = readPassageRow(row);
      return { line, offset, at, speaker, text };
    });
  return passages.length === session.passages ? { head: session.head, passages } : null;
}

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
      const index = new SessionIndexWriter(database, fullText);
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
export function openIndexStore(
  store: Store,
  database: SqlDatabase,
  { deadline }: Pick<SyncOptions, 'deadline'> = {},
): SessionTextStore {
  const change = (work: (index: SessionIndexWriter) => void): void =>
    withCacheLock(store, SESSION_INDEX, () =>
      changeCache(store, { cache: SESSION_INDEX, database }, () =>
        work(new SessionIndexWriter(database, openFullText(database))),
      ),
    );
  const { waiting, damaged } = syncArchives(store, database, { change, deadline });
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

interface Following extends Pick<SyncOptions, 'deadline'> {
  change(work: (index: SessionIndexWriter) => void): void;
}

/** Takes in what others wrote and did not live to index, and takes out what is no longer kept. */
function syncArchives(
  store: Store,
  database: SqlDatabase,
  { change, deadline = Number.POSITIVE_INFINITY }: Following,
): Pick<SessionTextStore, 'waiting' | 'damaged'> {
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
function takeIn(
  store: Store,
  index: SessionIndexWriter,
  { name, gone }: { name: string; gone: boolean },
): void {
  const archive = identifyArchive(store, name) ?? '';
  const text = readText(store, name);
  if (text === null) return;
  const { head, passages } = text;
  index.put({ name, head, archive, gone, reading: null, stays: 0, parts: [passages] });
}
