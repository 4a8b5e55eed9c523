import { basename } from 'node:path';
import { FACT_KINDS } from '../model/fact-kinds.ts';
import { takeFingerprint } from '../model/hash.ts';
import { type CacheDatabase, numberIn, RowDamage, textIn } from '../platform/cache-database.ts';
import { describeFileState, measureRegularFile } from '../platform/durable-file.ts';
import type { SqlDatabase, SqlStatement } from '../platform/sqlite.ts';
import { findChangedMonths } from '../store/index-freshness.ts';
import { listJournalFiles } from '../store/journal-files.ts';
import type { Store } from '../store/store.ts';
import type { FactRecord, HandoverRecord } from './finder.ts';
import { CREATE_FULL_TEXT, makeTag } from './full-text.ts';
import { listNotesFiles, type NotesFile, type NotesPlace } from './notes.ts';

export const SEARCH_INDEX: CacheDatabase = { name: 'search', version: 3 };

/**
 * Texts are numbered so that those of newer handovers come first; those of a handover follow each other from `first` on.
 * The texts of notes come after all of them. `months` and `damaged` are as in the index of handovers.
 */
export const CREATE_TABLES: string = `
  CREATE TABLE handovers (
    first INTEGER PRIMARY KEY,
    texts INTEGER NOT NULL,
    id TEXT NOT NULL,
    at TEXT NOT NULL,
    started_at TEXT,
    agent TEXT NOT NULL,
    session TEXT,
    project_id TEXT NOT NULL,
    project_name TEXT NOT NULL,
    root TEXT NOT NULL,
    folder TEXT NOT NULL,
    is_foreign INTEGER NOT NULL,
    mark INTEGER NOT NULL
  );
  CREATE TABLE texts (
    n INTEGER PRIMARY KEY,
    fact INTEGER,
    traits INTEGER NOT NULL,
    status TEXT,
    line INTEGER,
    taken_from TEXT,
    ref TEXT,
    text TEXT NOT NULL,
    mark INTEGER NOT NULL
  );
  CREATE TABLE notes (path TEXT PRIMARY KEY, folder TEXT NOT NULL, state TEXT NOT NULL, first INTEGER NOT NULL, texts INTEGER NOT NULL, at TEXT NOT NULL);
  CREATE TABLE journals (name TEXT PRIMARY KEY, state TEXT NOT NULL, read INTEGER NOT NULL);
  CREATE TABLE marks (
    project TEXT NOT NULL,
    fact TEXT NOT NULL,
    mark TEXT NOT NULL,
    at TEXT NOT NULL,
    because TEXT,
    journal TEXT NOT NULL,
    PRIMARY KEY (project, fact)
  );
  CREATE TABLE months (month TEXT PRIMARY KEY, state TEXT, files INTEGER NOT NULL);
  CREATE TABLE damaged (id TEXT PRIMARY KEY, reason TEXT NOT NULL);
  ${CREATE_FULL_TEXT}
`;

/** Made when all is filled in, which takes a fraction of the time. */
export const CREATE_INDEXES: string = `
  CREATE UNIQUE INDEX ids ON handovers (id);
  CREATE INDEX roots ON handovers (root, first);
  CREATE INDEX projects ON handovers (project_id, project_name);
  CREATE INDEX facts ON texts (fact);
`;

/**
 * Where the texts of a handover of this time begin: the newer, the lower. Each takes a number, and so some of the
 * milliseconds before it, in which hardly anything else was handed over.
 */
export function numberOfTime(ms: number): number {
  return -ms;
}

const MARGIN = 60_000;

/** No text of what is not older has a higher number, save where very much was handed over at once. */
export function lastNumberSince(ms: number): number {
  return numberOfTime(ms) + MARGIN;
}

/** The texts of notes have higher numbers, those of handovers lower ones. */
export const FIRST_OF_NOTES: number = 2 ** 40;

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

/** A fact's id as a number: its ten digits have fifty bits. */
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

/** Kind, trust, origin and pin of a fact as one number; -1 for what is no fact. */
function packTraits(fact: FactRecord): number {
  const { kind, trust, origin, pinned } = fact;
  return (
    FACT_KINDS.indexOf(kind) * 128 + TRUSTS.indexOf(trust) * 16 + ORIGINS.indexOf(origin) * 2 + Number(pinned)
  );
}

const NO_FACT = -1;

function unpackTraits(traits: number): Pick<FactRecord, 'kind' | 'trust' | 'origin' | 'pinned'> {
  const kind = FACT_KINDS[traits >> 7];
  const trust = TRUSTS[(traits >> 4) & 7];
  const origin = ORIGINS[(traits >> 1) & 7];
  if (kind === undefined || trust === undefined || origin === undefined) throw new RowDamage();
  return { kind, trust, origin, pinned: (traits & 1) === 1 };
}

/** A row of `texts`. */
export interface TextRow {
  n: number;
  text: string;
  /** Null for the text of a handover itself, and of a note. */
  fact: FactRecord | null;
  line: number | null;
}

export function prepareAddText(database: SqlDatabase): (row: TextRow) => void {
  const add: SqlStatement = database.prepare(
    'INSERT INTO texts (n, fact, traits, status, line, taken_from, ref, text, mark) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  return ({ n, text, fact, line }) => {
    const values = [
      n,
      fact === null ? null : numberOfFact(fact.id),
      fact === null ? NO_FACT : packTraits(fact),
      fact?.status ?? null,
      line,
      fact?.from ?? null,
      fact?.ref ?? null,
      text,
    ] as const;
    add.run(...values, computeMark(values));
  };
}

export const TEXT_COLUMNS = 'n, fact, traits, status, line, taken_from, ref, text, mark';

/** Throws `RowDamage` when it is not as it was put there. */
export function readTextRow(row: unknown): TextRow {
  const [n, fact, traits, status, line, from, ref, text] = [
    numberIn(row, 'n'),
    numberOrNull(row, 'fact'),
    numberIn(row, 'traits'),
    textOrNull(row, 'status'),
    numberOrNull(row, 'line'),
    textOrNull(row, 'taken_from'),
    textOrNull(row, 'ref'),
    textIn(row, 'text'),
  ];
  if (computeMark([n, fact, traits, status, line, from, ref, text]) !== numberIn(row, 'mark'))
    throw new RowDamage();
  if (fact === null) return { n, text, fact: null, line };
  return {
    n,
    text,
    line,
    fact: { id: idOfFact(fact), text, status, line, from, ref, ...unpackTraits(traits) },
  };
}

/** Over all other columns. Rot is an accident: no more than a fingerprint is needed. */
export function computeMark(values: readonly (string | number | null)[]): number {
  const { low, high } = takeFingerprint(values.join('\u0000'));
  return (high & 0x1fffff) * 0x100000000 + low;
}

export function valuesOfHandover(
  { id, at, startedAt, agent, session, project, root, folder, isForeign }: HandoverRecord,
  place: { first: number; texts: number },
): (string | number | null)[] {
  const values = [
    place.first,
    place.texts,
    id,
    at,
    startedAt,
    agent,
    session,
    project.id,
    project.name,
    root,
    folder,
    Number(isForeign),
  ];
  return [...values, computeMark(values)];
}

export const HANDOVER_COLUMNS =
  'first, texts, id, at, started_at, agent, session, project_id, project_name, root, folder, is_foreign, mark';

export interface HandoverRow {
  handover: HandoverRecord;
  first: number;
  texts: number;
}

export function readHandoverRow(row: unknown): HandoverRow {
  const handover: HandoverRecord = {
    id: textIn(row, 'id'),
    at: textIn(row, 'at'),
    startedAt: textOrNull(row, 'started_at'),
    agent: textIn(row, 'agent'),
    session: textOrNull(row, 'session'),
    project: { id: textIn(row, 'project_id'), name: textIn(row, 'project_name') },
    root: textIn(row, 'root'),
    folder: textIn(row, 'folder'),
    isForeign: numberIn(row, 'is_foreign') === 1,
  };
  const place = { first: numberIn(row, 'first'), texts: numberIn(row, 'texts') };
  if (valuesOfHandover(handover, place).at(-1) !== numberIn(row, 'mark')) throw new RowDamage();
  return { handover, ...place };
}

function textOrNull(row: unknown, column: string): string | null {
  const value: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, column) : null;
  return typeof value === 'string' ? value : null;
}

function numberOrNull(row: unknown, column: string): number | null {
  const value = numberIn(row, column);
  return Number.isNaN(value) ? null : value;
}

/** Whether the files have something that the index has not. Costs a few stats; nothing is read. */
export function isBehind(store: Store, database: SqlDatabase, notes: NotesPlace | null): boolean {
  return findChangedMonths(store, database).length > 0 || isBehindOthers(store, database, notes);
}

/** The same of all but handovers. */
export function isBehindOthers(store: Store, database: SqlDatabase, notes: NotesPlace | null): boolean {
  if (findChangedJournals(store, database).length > 0) return true;
  if (notes === null) return false;
  const { changed, gone } = findNotesNews(store, database, notes);
  return changed.length > 0 || gone.length > 0;
}

interface JournalState {
  path: string;
  name: string;
  state: string;
  size: number;
  /** How far it was read. */
  read: number;
}

/** The journal's files that have changed since they were read. Costs one stat a month. */
export function findChangedJournals(store: Store, database: SqlDatabase): JournalState[] {
  const known = new Map(
    database
      .prepare('SELECT name, state, read FROM journals')
      .all()
      .map((row) => [textIn(row, 'name'), { state: textIn(row, 'state'), read: numberIn(row, 'read') }]),
  );
  return listJournalFiles(store).flatMap((path) => {
    const name = basename(path);
    const state = describeFileState(path) ?? '';
    const before = known.get(name);
    if (before?.state === state) return [];
    return [{ path, name, state, size: measureRegularFile(path) ?? 0, read: before?.read ?? 0 }];
  });
}

export interface NotesNews {
  changed: NotesFile[];
  /** Paths of files that are gone. */
  gone: string[];
}

/** How the notes of a place differ from what is known of them. Costs one stat a file. */
export function findNotesNews(store: Store, database: SqlDatabase, place: NotesPlace): NotesNews {
  const known = new Map(
    database
      .prepare('SELECT path, state FROM notes WHERE folder = ?')
      .all(place.folder)
      .map((row) => [textIn(row, 'path'), textIn(row, 'state')]),
  );
  const files = listNotesFiles(place, store.machine);
  const present = new Set(files.map(({ path }) => path));
  return {
    changed: files.filter(({ path, state }) => known.get(path) !== state),
    gone: [...known.keys()].filter((path) => !present.has(path)),
  };
}

export function tagOfNotes(folder: string): string {
  return makeTag('f', folder);
}
