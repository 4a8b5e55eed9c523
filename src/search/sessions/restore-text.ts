import { join } from 'node:path';
import { sha256Hex } from '../../model/hash.ts';
import { isCacheDamage, openCacheFile } from '../../platform/cache-database.ts';
import { writeFileDurably } from '../../platform/durable-file.ts';
import type { SqlDatabase, SqlDriver } from '../../platform/sqlite.ts';
import { quarantineCopy } from '../../store/copies.ts';
import { SESSION_TEXTS, type Store } from '../../store/store.ts';
import { packPart, pathOfText, readArchive, type SessionText, salvageParts } from './archive.ts';
import { listSessions } from './text-index.ts';
import { PASSAGE_COLUMNS, readPassageRow, SESSION_INDEX } from './text-schema.ts';

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
  quarantineCopy(store, {
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
