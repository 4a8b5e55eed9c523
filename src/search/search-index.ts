import { basename } from 'node:path';
import { FACT_KINDS } from '../model/fact-kinds.ts';
import { type CacheDatabase, numberIn, RowDamage, textIn } from '../platform/cache-database.ts';
import { describeFileState, measureRegularFile } from '../platform/durable-file.ts';
import type { SqlDatabase, SqlValue } from '../platform/sqlite.ts';
import { findChangedMonths } from '../store/index-schema.ts';
import { listJournalFiles, type Store } from '../store/store.ts';
import { type FactRecord, type HandoverRecord, isPassedOn } from './finder.ts';
import { CREATE_FULL_TEXT, describeTable, type MarkedTable } from './full-text.ts';
import { listNotesFiles, type NotesPlace } from './notes.ts';

export const SEARCH_INDEX: CacheDatabase = { name: 'search', version: 9 };

/**
 * Texts are numbered so that newer handovers come first; the texts of a handover are numbered from `first` on. The texts
 * of notes come last. `files` has a row for each fact about a file, to find out which matter most without reading the
 * facts. `months` and `damaged` are as in the index of handovers.
 */
export const CREATE_TABLES: string = `
  CREATE TABLE handovers (
    first INTEGER PRIMARY KEY, texts INTEGER NOT NULL,
    id TEXT NOT NULL, at TEXT NOT NULL, worked_at TEXT NOT NULL, is_noted INTEGER NOT NULL, started_at TEXT, agent TEXT NOT NULL, session TEXT,
    project_id TEXT NOT NULL, project_name TEXT NOT NULL, root TEXT NOT NULL, folder TEXT NOT NULL,
    is_foreign INTEGER NOT NULL, mark INTEGER NOT NULL
  );
  CREATE TABLE texts (
    n INTEGER PRIMARY KEY, fact INTEGER, traits INTEGER NOT NULL, status TEXT,
    line INTEGER, taken_from TEXT, ref TEXT, stated_at TEXT, text TEXT NOT NULL, mark INTEGER NOT NULL
  );
  CREATE TABLE files (
    project TEXT NOT NULL, path TEXT NOT NULL, n INTEGER NOT NULL, session INTEGER NOT NULL, changed INTEGER NOT NULL,
    at INTEGER NOT NULL, PRIMARY KEY (project, path, n)
  ) WITHOUT ROWID;
  CREATE TABLE notes (path TEXT PRIMARY KEY, folder TEXT NOT NULL, state TEXT NOT NULL, first INTEGER NOT NULL, texts INTEGER NOT NULL, at TEXT NOT NULL);
  CREATE TABLE journals (name TEXT PRIMARY KEY, state TEXT NOT NULL, read INTEGER NOT NULL);
  CREATE TABLE marks (
    project TEXT NOT NULL, fact TEXT NOT NULL, mark TEXT NOT NULL, at TEXT NOT NULL, because TEXT,
    identity TEXT NOT NULL, ends INTEGER NOT NULL, PRIMARY KEY (project, fact, ends)
  );
  CREATE TABLE months (month TEXT PRIMARY KEY, state TEXT, files INTEGER NOT NULL);
  CREATE TABLE damaged (id TEXT PRIMARY KEY, reason TEXT NOT NULL);
  ${CREATE_FULL_TEXT}
`;

/** Created after the tables are filled, which is much faster. */
export const CREATE_INDEXES: string = `
  CREATE UNIQUE INDEX ids ON handovers (id);
  CREATE INDEX roots ON handovers (root, first);
  CREATE INDEX projects ON handovers (project_id, project_name);
  CREATE INDEX facts ON texts (fact);
`;

/** Where the texts of a handover begin; they take up the milliseconds before it, in which hardly another was made. */
export function numberOfTime(ms: number): number {
  return -ms;
}

const MARGIN = 60_000;

/** The highest number of texts since then, unless very many handovers were made at once. */
export function lastNumberSince(ms: number): number {
  return numberOfTime(ms) + MARGIN;
}

/** The texts of notes have this number or a higher one, those of handovers lower ones. */
export const FIRST_OF_NOTES: number = 2 ** 40;

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

/** The id of a fact as a number: ten base-32 digits have fifty bits. */
export function numberOfFact(id: string): number {
  let number = 0;
  for (const digit of id.slice(2)) number = number * 32 + DIGITS.indexOf(digit);
  return number;
}

function idOfFact(number: number): string {
  let digits = '';
  for (let rest = number, at = 0; at < 10; at++, rest = Math.floor(rest / 32))
    digits = `${DIGITS.charAt(rest % 32)}${digits}`;
  return `f-${digits}`;
}

const TRUSTS = ['observed', 'quoted', 'declared', 'inferred', 'imported'] as const;
const ORIGINS = ['human', 'agent', 'tool', 'git', 'import'] as const;
const NO_FACT = -1;

function packTraits({ kind, trust, origin, pinned, isGuess }: FactRecord): number {
  const flags = Number(isGuess) * 128 + Number(pinned);
  return FACT_KINDS.indexOf(kind) * 256 + TRUSTS.indexOf(trust) * 16 + ORIGINS.indexOf(origin) * 2 + flags;
}

function unpackTraits(traits: number): Pick<FactRecord, 'kind' | 'trust' | 'origin' | 'pinned' | 'isGuess'> {
  const kind = FACT_KINDS[traits >> 8];
  const trust = TRUSTS[(traits >> 4) & 7];
  const origin = ORIGINS[(traits >> 1) & 7];
  if (kind === undefined || trust === undefined || origin === undefined) throw new RowDamage();
  return { kind, trust, origin, pinned: (traits & 1) === 1, isGuess: (traits & 128) === 128 };
}

export const TEXTS: MarkedTable = describeTable('texts', 'n fact traits status line taken_from ref stated_at text');

export interface TextRow {
  n: number;
  text: string;
  /** Null for the text of a handover itself, and for a note. */
  fact: FactRecord | null;
  line: number | null;
}

/** Whether a fact is counted in `files`: what is only carried over is not. */
export function isOfFile(fact: FactRecord): boolean {
  return fact.kind === 'file' && !isPassedOn(fact);
}

export function valuesOfText({ n, text, fact, line }: TextRow): SqlValue[] {
  if (fact === null) return [n, null, NO_FACT, null, line, null, null, null, text];
  const place = [fact.from, fact.ref, fact.statedAt];
  return [n, numberOfFact(fact.id), packTraits(fact), fact.status, line, ...place, text];
}

export function readTextRow(row: unknown): TextRow {
  TEXTS.check(row);
  const [n, text, line] = [numberIn(row, 'n'), textIn(row, 'text'), numberOrNull(row, 'line')];
  const number = numberOrNull(row, 'fact');
  if (number === null) return { n, text, fact: null, line };
  const fact: FactRecord = {
    id: idOfFact(number),
    text,
    status: textOrNull(row, 'status'),
    line,
    from: textOrNull(row, 'taken_from'),
    ref: textOrNull(row, 'ref'),
    statedAt: textOrNull(row, 'stated_at'),
    ...unpackTraits(numberIn(row, 'traits')),
  };
  return { n, text, fact, line };
}

export const HANDOVERS: MarkedTable = describeTable(
  'handovers',
  'first texts id at worked_at is_noted started_at agent session project_id project_name root folder is_foreign',
);

/** A row of `handovers`: its record, and the numbers of its texts. */
export type HandoverRow = { handover: HandoverRecord; first: number; texts: number };

export function valuesOfHandover({ handover, first, texts }: HandoverRow): SqlValue[] {
  const { id, at, workedAt, isNoted, startedAt, agent, session, project, root, folder, isForeign } = handover;
  const place = [first, texts, id, at, workedAt, Number(isNoted), startedAt, agent, session];
  return [...place, project.id, project.name, root, folder, Number(isForeign)];
}

export function readHandoverRow(row: unknown): HandoverRow {
  HANDOVERS.check(row);
  return {
    handover: {
      id: textIn(row, 'id'),
      at: textIn(row, 'at'),
      workedAt: textIn(row, 'worked_at'),
      isNoted: numberIn(row, 'is_noted') === 1,
      startedAt: textOrNull(row, 'started_at'),
      agent: textIn(row, 'agent'),
      session: textOrNull(row, 'session'),
      project: { id: textIn(row, 'project_id'), name: textIn(row, 'project_name') },
      root: textIn(row, 'root'),
      folder: textIn(row, 'folder'),
      isForeign: numberIn(row, 'is_foreign') === 1,
    },
    first: numberIn(row, 'first'),
    texts: numberIn(row, 'texts'),
  };
}

export function textOrNull(row: unknown, column: string): string | null {
  const value: unknown = Reflect.get(Object(row), column);
  return typeof value === 'string' ? value : null;
}

export function numberOrNull(row: unknown, column: string): number | null {
  const value = numberIn(row, column);
  return Number.isNaN(value) ? null : value;
}

/** Whether the files have something that the index does not. Costs a few stats; nothing is read. */
export function isBehind(store: Store, database: SqlDatabase, notes: NotesPlace | null): boolean {
  return findChangedMonths(store, database).length > 0 || isBehindOthers(store, database, notes);
}

/** The same without the handovers. */
export function isBehindOthers(store: Store, database: SqlDatabase, notes: NotesPlace | null): boolean {
  if (findChangedJournals(store, database).length > 0) return true;
  if (notes === null) return false;
  const { changed, gone } = findChangedNotes(store, database, notes);
  return changed.length > 0 || gone.length > 0;
}

/** The journal files that changed since `read` bytes of them were read. Costs one stat per month. */
export function findChangedJournals(store: Store, database: SqlDatabase) {
  const rows = database.prepare('SELECT name, state, read FROM journals').all();
  const known = new Map(rows.map((row) => [textIn(row, 'name'), row]));
  return listJournalFiles(store).flatMap((path) => {
    const name = basename(path);
    const state = describeFileState(path) ?? '';
    const before = known.get(name);
    if (before !== undefined && textIn(before, 'state') === state) return [];
    return [{ path, name, state, size: measureRegularFile(path) ?? 0, read: numberIn(before, 'read') || 0 }];
  });
}

/** The notes that changed, and the paths of those that are gone. Costs one stat per file. */
export function findChangedNotes(store: Store, database: SqlDatabase, place: NotesPlace) {
  const rows = database.prepare('SELECT path, state FROM notes WHERE folder = ?').all(place.folder);
  const known = new Map(rows.map((row) => [textIn(row, 'path'), textIn(row, 'state')]));
  const files = listNotesFiles(place, store.machine);
  const present = new Set(files.map(({ path }) => path));
  return {
    changed: files.filter(({ path, state }) => known.get(path) !== state),
    gone: [...known.keys()].filter((path) => !present.has(path)),
  };
}
