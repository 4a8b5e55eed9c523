import * as v from 'valibot';
import { type CacheDatabase, numberIn, RowDamage, textIn } from '../../platform/cache-database.ts';
import type { SqlDatabase, SqlValue } from '../../platform/sqlite.ts';
import { computeMark } from '../../store/index-schema.ts';
import { tagOfAgent, tagOfProject } from '../finder.ts';
import { CREATE_FULL_TEXT, describeTable, type FullText, type MarkedTable } from '../full-text.ts';
import { numberOrNull } from '../search-index.ts';
import { withoutNul } from '../tokens.ts';
import { SessionHead } from './archive.ts';
import { type Passage, SPEAKERS } from './passage.ts';

export const SESSION_INDEX: CacheDatabase = { name: 'sessions', version: 3 };

/** Passages are numbered so that later ones come first. `place` counts them within their session. */
export const CREATE_TABLES: string = `
  CREATE TABLE sessions (
    key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, head TEXT NOT NULL, archive TEXT NOT NULL,
    passages INTEGER NOT NULL, gone INTEGER NOT NULL, mark INTEGER NOT NULL, reading BLOB
  );
  CREATE TABLE passages (
    n INTEGER PRIMARY KEY, session INTEGER NOT NULL, place INTEGER NOT NULL, line INTEGER NOT NULL,
    offset INTEGER, at INTEGER, speaker INTEGER NOT NULL, text TEXT NOT NULL, mark INTEGER NOT NULL
  );
  CREATE UNIQUE INDEX places ON passages (session, place);
  ${CREATE_FULL_TEXT}
`;

const NUMBERS_A_MS = 1000;
const LAST_MS = 8_000_000_000_000;

/** The first number of passages of that time: the later, the lower. */
function numberOfMs(ms: number): number {
  return -Math.min(Math.max(Math.trunc(ms), 0), LAST_MS) * NUMBERS_A_MS;
}

/** The last number of passages since then. */
export function lastNumberSince(ms: number): number {
  return numberOfMs(ms) + NUMBERS_A_MS - 1;
}

const SESSIONS = describeTable('sessions', 'key name head archive passages gone');

/** A row of `sessions`, without the checkpoint in `reading`. */
export interface SessionRow {
  key: number;
  name: string;
  head: SessionHead;
  /** Identifies the archive that the passages were read from. */
  archive: string;
  passages: number;
  gone: boolean;
}

function valuesOfSession({ key, name, head, archive, passages, gone }: SessionRow): (string | number)[] {
  const values = [key, name, JSON.stringify(head), archive, passages, Number(gone)];
  return [...values, computeMark(values)];
}

const Head = v.pipe(v.string(), v.parseJson(), SessionHead);

function readSessionRow(row: unknown): SessionRow {
  SESSIONS.check(row);
  const head = v.safeParse(Head, textIn(row, 'head'));
  if (!head.success) throw new RowDamage();
  return {
    key: numberIn(row, 'key'),
    name: textIn(row, 'name'),
    head: head.output,
    archive: textIn(row, 'archive'),
    passages: numberIn(row, 'passages'),
    gone: numberIn(row, 'gone') === 1,
  };
}

export const PASSAGES: MarkedTable = describeTable('passages', 'n session place line offset at speaker text');

export type PassageRow = { n: number; session: number; place: number; passage: Passage };

function valuesOfPassage({ n, session, place, passage }: PassageRow): SqlValue[] {
  const { line, offset, at, speaker, text } = passage;
  return [n, session, place, line, offset, at, SPEAKERS.indexOf(speaker), text];
}

export function readPassageRow(row: unknown): PassageRow {
  PASSAGES.check(row);
  const speaker = SPEAKERS[numberIn(row, 'speaker')];
  if (speaker === undefined) throw new RowDamage();
  return {
    n: numberIn(row, 'n'),
    session: numberIn(row, 'session'),
    place: numberIn(row, 'place'),
    passage: {
      line: numberIn(row, 'line'),
      offset: numberOrNull(row, 'offset'),
      at: numberOrNull(row, 'at'),
      speaker,
      text: textIn(row, 'text'),
    },
  };
}

export function listSessions(database: SqlDatabase): SessionRow[] {
  return database.prepare(`SELECT ${SESSIONS.columns} FROM sessions ORDER BY key`).all().map(readSessionRow);
}

export function findReading(database: SqlDatabase, name: string): Uint8Array | null {
  const row = database.prepare('SELECT reading FROM sessions WHERE name = ?').get(name);
  const bytes: unknown = Reflect.get(Object(row), 'reading');
  return bytes instanceof Uint8Array ? bytes : null;
}

function tagsOf({ agent, project }: SessionHead): string[] {
  return [tagOfAgent(agent), ...(project === null ? [] : [tagOfProject(project.id)])];
}

export interface TextChange extends Omit<SessionRow, 'key' | 'passages'> {
  reading: Uint8Array | null;
  /** So many passages stay as they are; with 0, those that are equal do. */
  stays: number;
  /** The passages after them, in parts, of which one is in memory at a time. */
  parts: Iterable<readonly Passage[]>;
}

/** Changes the passages of sessions in the index. To be used in a transaction. */
export class SessionIndexWriter {
  readonly #database: SqlDatabase;
  readonly #fullText: FullText;

  constructor(database: SqlDatabase, fullText: FullText) {
    this.#database = database;
    this.#fullText = fullText;
  }

  put({ name, head, archive, gone, reading, stays, parts }: TextChange): void {
    const before = this.#find(name);
    const findKey = this.#database.prepare('SELECT coalesce(max(key), 0) + 1 AS next FROM sessions');
    const key = before?.key ?? numberIn(findKey.get(), 'next');
    const add = this.#prepareAdd(key, head);
    let place = 0;
    if (before !== null) {
      const isRetagged = tagsOf(before.head).join() !== tagsOf(head).join();
      if (!isRetagged) place = Math.min(stays, before.passages);
      if (isRetagged || place > 0) this.#removeFrom(before, place);
    }
    // Passages that are equal stay; from the first that differs, all are replaced.
    let isSame = before !== null && place === 0;
    for (const part of parts) {
      const same = isSame ? this.#countSame(key, place, part) : 0;
      place += same;
      if (isSame && same < part.length && before !== null) this.#removeFrom(before, place);
      isSame &&= same === part.length;
      add(place, part.slice(same));
      place += part.length - same;
    }
    if (isSame && before !== null) this.#removeFrom(before, place);
    const values = valuesOfSession({ key, name, head, archive, passages: place, gone });
    this.#database
      .prepare(`INSERT OR REPLACE INTO sessions (${SESSIONS.columns}, reading) VALUES (${'?, '.repeat(7)}?)`)
      .run(...values, reading);
  }

  remove(name: string): void {
    const session = this.#find(name);
    if (session === null) return;
    this.#removeFrom(session, 0);
    this.#database.prepare('DELETE FROM sessions WHERE name = ?').run(name);
  }

  setGone(session: SessionRow, gone: boolean): void {
    const mark = valuesOfSession({ ...session, gone }).at(-1) ?? 0;
    this.#database.prepare('UPDATE sessions SET gone = ?, mark = ? WHERE key = ?').run(Number(gone), mark, session.key);
  }

  #find(name: string): SessionRow | null {
    const row = this.#database.prepare(`SELECT ${SESSIONS.columns} FROM sessions WHERE name = ?`).get(name);
    return row === undefined || row === null ? null : readSessionRow(row);
  }

  /** Rows are added in ascending order of their numbers, the cheapest for the full text. */
  #prepareAdd(session: number, head: SessionHead): (place: number, passages: readonly Passage[]) => void {
    const tags = tagsOf(head);
    const insert = PASSAGES.prepareInsert(this.#database);
    const taken = this.#database.prepare('SELECT 1 AS taken FROM passages WHERE n = ?');
    let lastAt = head.startedMs ?? head.changedMs;
    return (first, passages) => {
      const rows = passages.map((each, index): PassageRow => {
        lastAt = each.at ?? lastAt;
        const place = first + index;
        const passage = { ...each, text: withoutNul(each.text) };
        return { n: numberOfMs(lastAt) + (place % 1000), session, place, passage };
      });
      for (const row of rows.sort((a, b) => a.n - b.n)) {
        while (taken.get(row.n) !== undefined) row.n++;
        insert(valuesOfPassage(row));
        this.#fullText.add({ n: row.n, text: row.passage.text, tags });
      }
    };
  }

  #countSame(session: number, place: number, passages: readonly Passage[]): number {
    const rows = this.#database
      .prepare(`SELECT ${PASSAGES.columns} FROM passages WHERE session = ? AND place >= ? ORDER BY place LIMIT ?`)
      .all(session, place, passages.length)
      .map(readPassageRow);
    const at = passages.findIndex((passage, index) => !isSamePassage(passage, rows[index]?.passage));
    return at === -1 ? passages.length : at;
  }

  #removeFrom({ key, head }: SessionRow, place: number): void {
    const tags = tagsOf(head);
    const find = this.#database.prepare(
      `SELECT ${PASSAGES.columns} FROM passages WHERE session = ? AND place >= ? ORDER BY n LIMIT 1000`,
    );
    const remove = this.#database.prepare('DELETE FROM passages WHERE n = ?');
    for (let rows = find.all(key, place); rows.length > 0; rows = find.all(key, place)) {
      const passages = rows.map(readPassageRow);
      for (const { n } of passages) remove.run(n);
      this.#fullText.remove(passages.map(({ n, passage: { text } }) => ({ n, text, tags })));
    }
  }
}

function isSamePassage({ line, offset, at, speaker, text }: Passage, b: Passage | undefined): boolean {
  if (line !== b?.line || offset !== b.offset || at !== b.at || speaker !== b.speaker) return false;
  return withoutNul(text) === b.text;
}
