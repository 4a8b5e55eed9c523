import * as v from 'valibot';
import { type CacheDatabase, numberIn, RowDamage, textIn } from '../../platform/cache-database.ts';
import type { SqlDatabase, SqlStatement } from '../../platform/sqlite.ts';
import { tagOfAgent, tagOfProject } from '../finder.ts';
import { CREATE_FULL_TEXT, type FullText } from '../full-text.ts';
import { computeMark } from '../search-index.ts';
import { SessionHead } from './archive.ts';
import { type Passage, SPEAKERS } from './passage.ts';

export const SESSION_INDEX: CacheDatabase = { name: 'sessions', version: 3 };

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

/** What is to be known of a session from now on. */
export interface TextChange {
  name: string;
  head: SessionHead;
  archive: string;
  gone: boolean;
  /** What goes on from here, for the next reading. */
  reading: Uint8Array | null;
  /** So many passages stay as they are; with 0, those that are the same do. */
  stays: number;
  /** Those behind them, in parts, of which one is in memory at a time. */
  parts: Iterable<readonly Passage[]>;
}

export function listSessions(database: SqlDatabase): SessionRow[] {
  return database.prepare(`SELECT ${SESSION_COLUMNS} FROM sessions ORDER BY key`).all().map(readSessionRow);
}

export function findReading(database: SqlDatabase, name: string): Uint8Array | null {
  const row = database.prepare('SELECT reading FROM sessions WHERE name = ?').get(name);
  const bytes: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, 'reading') : null;
  return bytes instanceof Uint8Array ? bytes : null;
}

/** By which the passages of a session are picked out, whatever they say. */
function tagsOf({ agent, project }: SessionHead): string[] {
  return [tagOfAgent(agent), ...(project === null ? [] : [tagOfProject(project.id)])];
}

/** Takes the text of sessions into the tables and out of them. To be used in a transaction. */
export class SessionIndexWriter {
  readonly #database: SqlDatabase;
  readonly #fullText: FullText;

  constructor(database: SqlDatabase, fullText: FullText) {
    this.#database = database;
    this.#fullText = fullText;
  }

  put(change: TextChange): void {
    const { name, head, archive, gone, reading, parts } = change;
    const before = this.#find(name);
    const key = before?.key ?? this.#nextKey();
    const adding = this.#openAdding(key, head);
    let place = 0;
    if (before !== null) {
      const isRetagged = tagsOf(before.head).join() !== tagsOf(head).join();
      if (isRetagged) this.#removeFrom(before, 0);
      else if (change.stays > 0) place = Math.min(change.stays, before.passages);
      if (place > 0) this.#removeFrom(before, place);
    }
    let isSame = before !== null && place === 0;
    for (const part of parts) {
      const same = isSame ? this.#countSame(key, place, part) : 0;
      place += same;
      if (isSame && same < part.length && before !== null) this.#removeFrom(before, place);
      isSame &&= same === part.length;
      adding(place, part.slice(same));
      place += part.length - same;
    }
    if (isSame && before !== null) this.#removeFrom(before, place);
    const values = valuesOfSession({ key, name, head, archive, passages: place, gone });
    this.#database
      .prepare(
        `INSERT OR REPLACE INTO sessions (${SESSION_COLUMNS}, reading) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(...values, reading);
  }

  remove(name: string): void {
    const session = this.#find(name);
    if (session === null) return;
    this.#removeFrom(session, 0);
    this.#database.prepare('DELETE FROM sessions WHERE name = ?').run(name);
  }

  setGone(session: SessionRow, gone: boolean): void {
    const values = valuesOfSession({ ...session, gone });
    this.#database
      .prepare('UPDATE sessions SET gone = ?, mark = ? WHERE key = ?')
      .run(Number(gone), values.at(-1) ?? 0, session.key);
  }

  #find(name: string): SessionRow | null {
    const row = this.#database.prepare(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE name = ?`).get(name);
    return row === undefined || row === null ? null : readSessionRow(row);
  }

  #nextKey(): number {
    return numberIn(
      this.#database.prepare('SELECT coalesce(max(key), 0) + 1 AS next FROM sessions').get(),
      'next',
    );
  }

  /** The latest first: numbers that go down make the full text write what it holds. */
  #openAdding(session: number, head: SessionHead): (place: number, passages: readonly Passage[]) => void {
    const tags = tagsOf(head);
    const add = prepareAddPassage(this.#database);
    const taken = this.#database.prepare('SELECT 1 AS taken FROM passages WHERE n = ?');
    let lastAt = head.startedMs ?? head.changedMs;
    return (first, passages) => {
      const rows = passages.map((passage, index): PassageRow => {
        lastAt = passage.at ?? lastAt;
        const place = first + index;
        const text = passage.text.replaceAll('\u0000', '\ufffd');
        return { ...passage, text, session, place, n: numberOfMs(lastAt) + (place % 1000) };
      });
      rows.sort((a, b) => a.n - b.n);
      for (const row of rows) {
        while (taken.get(row.n) !== undefined) row.n++;
        add(row);
        this.#fullText.add({ n: row.n, text: row.text, tags });
      }
    };
  }

  #countSame(session: number, place: number, passages: readonly Passage[]): number {
    const rows = this.#database
      .prepare(
        `SELECT ${PASSAGE_COLUMNS} FROM passages WHERE session = ? AND place >= ? ORDER BY place LIMIT ?`,
      )
      .all(session, place, passages.length)
      .map(readPassageRow);
    const at = passages.findIndex((passage, index) => !isSamePassage(passage, rows[index]));
    return at === -1 ? passages.length : at;
  }

  /** What is taken out leaves nothing behind, not even its words. */
  #removeFrom({ key, head }: SessionRow, place: number): void {
    const tags = tagsOf(head);
    const find = this.#database.prepare(
      `SELECT ${PASSAGE_COLUMNS} FROM passages WHERE session = ? AND place >= ? ORDER BY n LIMIT 1000`,
    );
    const remove = this.#database.prepare('DELETE FROM passages WHERE n = ?');
    for (let rows = find.all(key, place); rows.length > 0; rows = find.all(key, place)) {
      const passages = rows.map(readPassageRow);
      for (const { n } of passages) remove.run(n);
      this.#fullText.remove(passages.map(({ n, text }) => ({ n, text, tags })));
    }
  }
}

function isSamePassage(passage: Passage, row: PassageRow | undefined): boolean {
  return (
    row !== undefined &&
    row.line === passage.line &&
    row.offset === passage.offset &&
    row.at === passage.at &&
    row.speaker === passage.speaker &&
    row.text === passage.text.replaceAll('\u0000', '\ufffd')
  );
}
