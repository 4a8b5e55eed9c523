import { AGENT_NAMES } from '../../agents/agent.ts';
import { type CacheDatabase, numberIn, RowDamage, textIn } from '../../platform/cache-database.ts';
import type { SqlDatabase, SqlValue } from '../../platform/sqlite.ts';
import { computeMark } from '../../store/index-schema.ts';
import { tagOfAgent, tagOfProject } from '../finder.ts';
import { CREATE_FULL_TEXT, describeTable, type FullText } from '../full-text.ts';
import { askFts, type Expression } from '../retrieve.ts';
import { numberOrNull, textOrNull } from '../search-index.ts';
import { makeTag, withoutNul } from '../tokens.ts';
import type { SessionHead } from './archive.ts';
import { type Passage, SPEAKERS } from './passage.ts';

export const SESSION_INDEX: CacheDatabase = { name: 'sessions', version: 5 };

/** The passages of a session have successive numbers from its key on. `reading` is a checkpoint. */
export const CREATE_TABLES: string = `
  CREATE TABLE sessions (
    key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, archive TEXT NOT NULL, passages INTEGER NOT NULL,
    gone INTEGER NOT NULL, agent TEXT NOT NULL, id TEXT NOT NULL, path TEXT NOT NULL, cwd TEXT, title TEXT,
    project_id TEXT, project_name TEXT, started_ms REAL, changed_ms REAL NOT NULL, bytes INTEGER NOT NULL,
    mark INTEGER NOT NULL, reading BLOB
  );
  CREATE TABLE passages (
    n INTEGER PRIMARY KEY, line INTEGER NOT NULL, offset INTEGER, at INTEGER, speaker INTEGER NOT NULL,
    text TEXT NOT NULL, mark INTEGER NOT NULL
  );
  ${CREATE_FULL_TEXT}
`;

/** No session has as many passages. */
const SPAN_BITS = 21;
const SPAN = 2 ** SPAN_BITS;
const LAST_SECOND = 2 ** 31;

/** The key of a session that began then: the later, the lower. */
function keyOfMs(ms: number): number {
  return -Math.min(Math.max(Math.trunc(ms / 1000), 0), LAST_SECOND) * SPAN;
}

/** The key of the session that a passage is of. */
export function keyOfPassage(n: number): number {
  return Math.floor(n / SPAN) * SPAN;
}

const SESSIONS = describeTable(
  'sessions',
  'key name archive passages gone agent id path cwd title project_id project_name started_ms changed_ms bytes',
);

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

function valuesOfSession({ key, name, archive, passages, gone, head }: SessionRow): SqlValue[] {
  const { agent, id, path, cwd, title, project, startedMs, changedMs, bytes } = head;
  const place = [path, cwd, title, project?.id ?? null, project?.name ?? null];
  const values = [key, name, archive, passages, Number(gone), agent, id, ...place, startedMs, changedMs, bytes];
  return [...values, computeMark(values)];
}

function readSessionRow(row: unknown): SessionRow {
  SESSIONS.check(row);
  const agent = AGENT_NAMES.find((known) => known === textIn(row, 'agent'));
  if (agent === undefined) throw new RowDamage();
  const project = textOrNull(row, 'project_id');
  return {
    key: numberIn(row, 'key'),
    name: textIn(row, 'name'),
    head: {
      agent,
      id: textIn(row, 'id'),
      path: textIn(row, 'path'),
      cwd: textOrNull(row, 'cwd'),
      title: textOrNull(row, 'title'),
      project: project === null ? null : { id: project, name: textIn(row, 'project_name') },
      startedMs: numberOrNull(row, 'started_ms'),
      changedMs: numberIn(row, 'changed_ms'),
      bytes: numberIn(row, 'bytes'),
    },
    archive: textIn(row, 'archive'),
    passages: numberIn(row, 'passages'),
    gone: numberIn(row, 'gone') === 1,
  };
}

const PASSAGES = describeTable('passages', 'n line offset at speaker text');

type PassageRow = { n: number; passage: Passage };

function valuesOfPassage({ n, passage }: PassageRow): SqlValue[] {
  const { line, offset, at, speaker, text } = passage;
  return [n, line, offset, at, SPEAKERS.indexOf(speaker), text];
}

function readPassageRow(row: unknown): PassageRow {
  PASSAGES.check(row);
  const speaker = SPEAKERS[numberIn(row, 'speaker')];
  if (speaker === undefined) throw new RowDamage();
  return {
    n: numberIn(row, 'n'),
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

/** In order; a passage that only the full-text tables know is damage. */
export function readPassages(database: SqlDatabase, numbers: readonly number[]): PassageRow[] {
  const rows = database
    .prepare(`SELECT ${PASSAGES.columns} FROM passages WHERE n IN (SELECT value FROM json_each(?)) ORDER BY n`)
    .all(JSON.stringify(numbers));
  if (rows.length !== numbers.length) throw new RowDamage();
  return rows.map(readPassageRow);
}

/** Passages of a session from one on, in order. */
export function listPassages(database: SqlDatabase, key: number, { from = 0, most = SPAN }): PassageRow[] {
  return database
    .prepare(`SELECT ${PASSAGES.columns} FROM passages WHERE n BETWEEN ? AND ? ORDER BY n LIMIT ?`)
    .all(key + from, key + SPAN - 1, most)
    .map(readPassageRow);
}

/** How many of at most so many passages each session has. In SQL, as they are many and sessions are few. */
export function countBySession(database: SqlDatabase, expression: Expression, most: number): Map<number, number> {
  const sql = `SELECT n >> ${SPAN_BITS} AS place, count(*) AS count
    FROM (SELECT rowid AS n FROM words WHERE words MATCH ? ORDER BY rowid LIMIT ?) GROUP BY place`;
  const rows = askFts(database, sql, [expression, most]);
  return new Map(rows.map((row) => [numberIn(row, 'place') * SPAN, numberIn(row, 'count')]));
}

export interface Spread {
  /** How many passages are looked at. */
  from: number;
  /** Only of these sessions; null for all. */
  sessions: readonly number[] | null;
  limit: number;
}

/** At most so many passages, of every session about as many, and its last ones. */
export function findSpread(database: SqlDatabase, expression: Expression, { from, sessions, limit }: Spread): number[] {
  const among = sessions === null ? '' : `WHERE n >> ${SPAN_BITS} IN (SELECT value FROM json_each(?))`;
  const sql = `SELECT n FROM (
      SELECT n, row_number() OVER (PARTITION BY n >> ${SPAN_BITS} ORDER BY n DESC) AS turn
      FROM (SELECT rowid AS n FROM words WHERE words MATCH ? ORDER BY rowid LIMIT ?) ${among}
    ) ORDER BY turn, n LIMIT ?`;
  const places = sessions === null ? [] : [JSON.stringify(sessions.map((key) => key / SPAN))];
  return askFts(database, sql, [expression, from, ...places, limit]).map((row) => numberIn(row, 'n'));
}

/** When the last passage of a session was said; null where the transcript has no times. */
export function findLastTime(database: SqlDatabase, { key, passages }: SessionRow): number | null {
  const row = database.prepare('SELECT at FROM passages WHERE n = ?').get(key + passages - 1);
  return numberOrNull(row, 'at');
}

export function findReading(database: SqlDatabase, name: string): Uint8Array | null {
  const row = database.prepare('SELECT reading FROM sessions WHERE name = ?').get(name);
  const bytes: unknown = Reflect.get(Object(row), 'reading');
  return bytes instanceof Uint8Array ? bytes : null;
}

/** Finds all passages of a session. */
export function tagOfSession(key: number): string {
  return makeTag('s', String(-key / SPAN));
}

function tagsOf({ agent, project }: SessionHead, key: number): string[] {
  return [tagOfAgent(agent), tagOfSession(key), ...(project === null ? [] : [tagOfProject(project.id)])];
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
    const key = before?.key ?? this.#findFreeKey(head);
    const add = this.#prepareAdd(key, head);
    let place = 0;
    if (before !== null) {
      const isRetagged = tagsOf(before.head, key).join() !== tagsOf(head, key).join();
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
      .prepare(
        `INSERT OR REPLACE INTO sessions (${SESSIONS.columns}, reading) VALUES (${'?, '.repeat(values.length)}?)`,
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
    const mark = valuesOfSession({ ...session, gone }).at(-1) ?? null;
    this.#database.prepare('UPDATE sessions SET gone = ?, mark = ? WHERE key = ?').run(Number(gone), mark, session.key);
  }

  #find(name: string): SessionRow | null {
    const row = this.#database.prepare(`SELECT ${SESSIONS.columns} FROM sessions WHERE name = ?`).get(name);
    return row === undefined || row === null ? null : readSessionRow(row);
  }

  #findFreeKey({ startedMs, changedMs }: SessionHead): number {
    const first = keyOfMs(startedMs ?? changedMs);
    const row = this.#database
      .prepare(
        `SELECT key + ${SPAN} AS free FROM sessions s WHERE key >= ? AND EXISTS (SELECT 1 FROM sessions WHERE key = ?)
           AND NOT EXISTS (SELECT 1 FROM sessions WHERE key = s.key + ${SPAN}) ORDER BY key LIMIT 1`,
      )
      .get(first, first);
    return numberIn(row, 'free') || first;
  }

  #prepareAdd(key: number, head: SessionHead): (place: number, passages: readonly Passage[]) => void {
    const tags = tagsOf(head, key);
    const insert = PASSAGES.prepareInsert(this.#database);
    return (first, passages) => {
      for (const [index, each] of passages.entries()) {
        const n = key + first + index;
        const passage = { ...each, text: withoutNul(each.text) };
        insert(valuesOfPassage({ n, passage }));
        this.#fullText.add({ n, text: passage.text, tags });
      }
    };
  }

  #countSame(key: number, place: number, passages: readonly Passage[]): number {
    const rows = listPassages(this.#database, key, { from: place, most: passages.length });
    const at = passages.findIndex((passage, index) => !isSamePassage(passage, rows[index]?.passage));
    return at === -1 ? passages.length : at;
  }

  #removeFrom({ key, head }: SessionRow, place: number): void {
    const tags = tagsOf(head, key);
    const remove = this.#database.prepare('DELETE FROM passages WHERE n = ?');
    const find = (): PassageRow[] => listPassages(this.#database, key, { from: place, most: 1000 });
    for (let rows = find(); rows.length > 0; rows = find()) {
      for (const { n } of rows) remove.run(n);
      this.#fullText.remove(rows.map(({ n, passage: { text } }) => ({ n, text, tags })));
    }
  }
}

function isSamePassage({ line, offset, at, speaker, text }: Passage, b: Passage | undefined): boolean {
  if (line !== b?.line || offset !== b.offset || at !== b.at || speaker !== b.speaker) return false;
  return withoutNul(text) === b.text;
}
