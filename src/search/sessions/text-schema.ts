import * as v from 'valibot';
import { type CacheDatabase, numberIn, RowDamage, textIn } from '../../platform/cache-database.ts';
import type { SqlDatabase, SqlStatement } from '../../platform/sqlite.ts';
import { CREATE_FULL_TEXT } from '../full-text.ts';
import { computeMark } from '../search-schema.ts';
import { SessionHead } from './archive.ts';
import { type Passage, SPEAKERS } from './passage.ts';

export const SESSION_INDEX: CacheDatabase = { name: 'sessions', version: 2 };

/** Passages are numbered so that later ones come first. `place` counts them within their session. */
export const CREATE_TABLES: string = `
  CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    head TEXT NOT NULL,
    archive TEXT NOT NULL,
    passages INTEGER NOT NULL,
    gone INTEGER NOT NULL,
    mark INTEGER NOT NULL,
    reading BLOB
  );
  CREATE TABLE passages (
    n INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    place INTEGER NOT NULL,
    line INTEGER NOT NULL,
    offset INTEGER,
    at INTEGER,
    speaker INTEGER NOT NULL,
    text TEXT NOT NULL,
    mark INTEGER NOT NULL
  );
  CREATE UNIQUE INDEX places ON passages (session, place);
  ${CREATE_FULL_TEXT}
`;

/** So many numbers belong to each millisecond. */
const NUMBERS_A_MS = 1000;
const LAST_MS = 8_000_000_000_000;

/** The first number of what was said then: the later, the lower. */
export function numberOfMs(ms: number): number {
  return -Math.min(Math.max(Math.trunc(ms), 0), LAST_MS) * NUMBERS_A_MS;
}

/** The last number of what is not older. */
export function lastNumberSince(ms: number): number {
  return numberOfMs(ms) + NUMBERS_A_MS - 1;
}

/** A session as the index knows it. */
export interface SessionRow {
  key: number;
  name: string;
  head: SessionHead;
  /** Tells the archive that it was taken from. */
  archive: string;
  passages: number;
  /** The agent does not have it any more. */
  gone: boolean;
}

export const SESSION_COLUMNS = 'key, name, head, archive, passages, gone, mark';

export function valuesOfSession(row: SessionRow): (string | number)[] {
  const values = [row.key, row.name, JSON.stringify(row.head), row.archive, row.passages, Number(row.gone)];
  return [...values, computeMark(values)];
}

const Head = v.pipe(v.string(), v.parseJson(), SessionHead);

/** Throws `RowDamage` when it is not as it was put there. */
export function readSessionRow(row: unknown): SessionRow {
  const head = v.safeParse(Head, textIn(row, 'head'));
  if (!head.success) throw new RowDamage();
  const session: SessionRow = {
    key: numberIn(row, 'key'),
    name: textIn(row, 'name'),
    head: head.output,
    archive: textIn(row, 'archive'),
    passages: numberIn(row, 'passages'),
    gone: numberIn(row, 'gone') === 1,
  };
  if (valuesOfSession(session).at(-1) !== numberIn(row, 'mark')) throw new RowDamage();
  return session;
}

/** A passage with its number, its session and its place there. */
export interface PassageRow extends Passage {
  n: number;
  session: number;
  place: number;
}

export const PASSAGE_COLUMNS = 'n, session, place, line, offset, at, speaker, text, mark';

export function prepareAddPassage(database: SqlDatabase): (row: PassageRow) => void {
  const add: SqlStatement = database.prepare(
    `INSERT INTO passages (${PASSAGE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (row) => {
    const values = valuesOfPassage(row);
    add.run(...values, computeMark(values));
  };
}

function valuesOfPassage({
  n,
  session,
  place,
  line,
  offset,
  at,
  speaker,
  text,
}: PassageRow): (string | number | null)[] {
  return [n, session, place, line, offset, at, SPEAKERS.indexOf(speaker), text];
}

export function readPassageRow(row: unknown): PassageRow {
  const speaker = SPEAKERS[numberIn(row, 'speaker')];
  if (speaker === undefined) throw new RowDamage();
  const [offset, at] = [numberIn(row, 'offset'), numberIn(row, 'at')];
  const passage: PassageRow = {
    n: numberIn(row, 'n'),
    session: numberIn(row, 'session'),
    place: numberIn(row, 'place'),
    line: numberIn(row, 'line'),
    offset: Number.isNaN(offset) ? null : offset,
    at: Number.isNaN(at) ? null : at,
    speaker,
    text: textIn(row, 'text'),
  };
  if (computeMark(valuesOfPassage(passage)) !== numberIn(row, 'mark')) throw new RowDamage();
  return passage;
}
