import { join } from 'node:path';
import { catchIf } from '../../errors.ts';
import { sha256Hex } from '../../model/hash.ts';
import { isCacheDamage, openCacheFile, pathOfCache } from '../../platform/cache-database.ts';
import { changeCache, rebuildCache, withCacheLock } from '../../platform/cache-writer.ts';
import { writeFileDurably } from '../../platform/durable-file.ts';
import { pathExists } from '../../platform/folders.ts';
import type { SqlDatabase, SqlDriver } from '../../platform/sqlite.ts';
import { quarantineCopy } from '../../store/copies.ts';
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
  listPassages,
  listSessions,
  SESSION_INDEX,
  SessionIndexWriter,
  type SessionRow,
} from './session-index.ts';
import type { SessionTextStore, SyncOptions } from './sync.ts';

/** What is left of a session whose archive is damaged: everything, from the index, or its intact parts. */
export type RecoveredText = SessionText & { whole: boolean };

export function recoverText(store: Store, driver: SqlDriver | null, name: string): RecoveredText | null {
  const indexed = driver === null ? null : findInIndex(store, driver, name);
  if (indexed !== null) return { ...indexed, whole: true };
  const salvaged = salvageParts(readArchive(store, name) ?? Buffer.alloc(0));
  return salvaged === null ? null : { ...salvaged, whole: false };
}

function findInIndex(store: Store, driver: SqlDriver, name: string): SessionText | null {
  return catchIf(isCacheDamage, null, () => {
    const database = openCacheFile(store, driver, SESSION_INDEX);
    if (database === null) return null;
    try {
      const session = listSessions(database).find((known) => known.name === name);
      if (session === undefined) return null;
      const passages = listPassages(database, session.key, {}).map(({ passage }) => passage);
      return passages.length === session.passages ? { head: session.head, passages } : null;
    } finally {
      database.close();
    }
  });
}

/** Writes an archive again from what is left, after a copy of the damaged one was put into the quarantine. */
export function restoreText(store: Store, name: string, { head, passages }: SessionText): void {
  const bytes = readArchive(store, name) ?? Buffer.alloc(0);
  const path = pathOfText(store, name);
  quarantineCopy(store, {
    name: `${name}-${sha256Hex(bytes).slice(0, 12)}.gz`,
    bytes,
    from: join(SESSION_TEXTS, `${name}.gz`),
    reason: `${path} was damaged`,
  });
  writeFileDurably(path, packPart(head, passages));
}

/**
 * Rebuilds the index from all archives, or, if it need not be whole, as an empty one that takes them in as far as there
 * is time. What only the old index has of deleted sessions is written to their archives first.
 */
export function rebuildSessionIndex(store: Store, driver: SqlDriver, isWhole: boolean): void {
  if (pathExists(pathOfCache(store, SESSION_INDEX)))
    for (const name of listTexts(store)) {
      const remains = readText(store, name) === null ? recoverText(store, driver, name) : null;
      if (remains?.whole === true) restoreText(store, name, remains);
    }
  rebuildCache(store, { cache: SESSION_INDEX, driver }, (database) => {
    database.exec(CREATE_TABLES);
    fillFullText(database, (fullText) => {
      const writer = new SessionIndexWriter(database, fullText);
      for (const name of isWhole ? listTexts(store) : []) putArchive(store, writer, name, false);
    });
  });
}

export interface IndexStore extends SessionTextStore {
  /** Read once and again after a change: parsing them takes longer than a search. */
  sessions(): readonly SessionRow[];
}

/** The index, brought up to date with the archives. */
export function openIndexStore(
  store: Store,
  database: SqlDatabase,
  { deadline }: Pick<SyncOptions, 'deadline'> = {},
): IndexStore {
  let rows: SessionRow[] | null = null;
  const sessions = (): SessionRow[] => {
    rows ??= listSessions(database);
    return rows;
  };
  const change = (work: (writer: SessionIndexWriter) => void): void => {
    rows = null;
    withCacheLock(store, SESSION_INDEX, () =>
      changeCache(store, { cache: SESSION_INDEX, database }, () =>
        work(new SessionIndexWriter(database, openFullText(database))),
      ),
    );
  };
  const { waiting, damaged } = syncArchives(store, sessions(), { change, deadline });
  return {
    sessions,
    refresh: () => {
      rows = null;
    },
    waiting,
    damaged,
    known: () => {
      const intact = sessions().filter(({ name }) => !damaged.has(name));
      return new Map(intact.map(({ name, head }) => [name, head]));
    },
    reading: (name) => findReading(database, name),
    put: (name, head, { stays, parts, checkpoint }) =>
      change((writer) => {
        const archive = identifyArchive(store, name) ?? '';
        const text = { reading: checkpoint, stays: stays.passages, parts: unpackEach(parts) };
        writer.put({ name, head, archive, gone: false, ...text });
      }),
    settle: (live) => {
      const wrong = sessions().filter(({ name, gone }) => gone === live.has(name));
      if (wrong.length > 0)
        change((writer) => {
          for (const session of wrong) writer.setGone(session, !live.has(session.name));
        });
    },
  };
}

function* unpackEach(parts: readonly Buffer[]): Generator<readonly Passage[]> {
  for (const part of parts) yield unpackParts(part)?.passages ?? [];
}

/** Indexes archives that an interrupted process wrote, and removes what is no longer archived. */
function syncArchives(
  store: Store,
  known: readonly SessionRow[],
  {
    change,
    deadline = Number.POSITIVE_INFINITY,
  }: Pick<SyncOptions, 'deadline'> & { change(work: (writer: SessionIndexWriter) => void): void },
): Pick<SessionTextStore, 'waiting' | 'damaged'> {
  const sessions = new Map(known.map((session) => [session.name, session]));
  const archives = new Map(listTexts(store).map((name) => [name, identifyArchive(store, name)]));
  const removed = [...sessions.keys()].filter((name) => !archives.has(name));
  if (removed.length > 0)
    change((writer) => {
      for (const name of removed) writer.remove(name);
    });
  const waiting = new Set<string>();
  const damaged = new Set<string>();
  for (const [name, archive] of archives) {
    const session = sessions.get(name);
    if (session !== undefined && session.archive === archive) continue;
    if (store.machine.clock.now() >= deadline) waiting.add(name);
    else if (readText(store, name) === null) damaged.add(name);
    else change((writer) => putArchive(store, writer, name, session?.gone ?? false));
  }
  return { waiting, damaged };
}

/** Leaves a session with a damaged archive as it is indexed: that may be all that is left of it. */
function putArchive(store: Store, writer: SessionIndexWriter, name: string, gone: boolean): void {
  const archive = identifyArchive(store, name) ?? '';
  const text = readText(store, name);
  if (text === null) return;
  const { head, passages } = text;
  writer.put({ name, head, archive, gone, reading: null, stays: 0, parts: [passages] });
}
