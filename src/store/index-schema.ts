import type { Handover } from '../model/handover.ts';
import { takeFingerprint } from '../model/hash.ts';
import { type CacheDatabase, numberIn, pathOfCache, textIn } from '../platform/cache-database.ts';
import { readFolderState } from '../platform/folders.ts';
import type { SqlDatabase, SqlValue } from '../platform/sqlite.ts';
import { describeRow } from './catalog.ts';
import { folderOfMonth, listMonths, type Month, type Store } from './store.ts';

export interface ChangedMonth {
  month: Month;
  /** Taken before the names are read: what changes in between is seen next time. */
  state: string | null;
}

/** The months whose folders are not, or not certainly, as the index last saw them. Costs one stat a month. */
export function findChangedMonths(store: Store, database: SqlDatabase): ChangedMonth[] {
  const known = readKnownMonths(database);
  const present = listMonths(store).map((month) => ({
    month,
    state: readFolderState(folderOfMonth(store, month)),
  }));
  const names = new Set(present.map(({ month }) => month.join('/')));
  const vanished = [...known.keys()]
    .filter((name) => !names.has(name))
    .map((name) => ({ month: splitMonth(name), state: null }));
  return [
    ...present.filter(({ month, state }) => state === null || known.get(month.join('/')) !== state),
    ...vanished,
  ];
}

function readKnownMonths(database: SqlDatabase): Map<string, string> {
  const rows = database.prepare('SELECT month, state FROM months').all();
  return new Map(rows.map((row) => [textIn(row, 'month'), textIn(row, 'state')]));
}

function splitMonth(name: string): Month {
  const [year = '', month = ''] = name.split('/');
  return [year, month];
}

/**
 * Whether the index lists as many handovers as it took in. Rot in the structure of a page can hide rows, which no check of
 * the rows that are left would show. Lists go by `newest`, so it is `newest` that is counted; a plain count would take
 * whichever index is smallest. Counting takes a moment in a large index, so it is done in small ones.
 */
export function isComplete(database: SqlDatabase): boolean {
  const row = database
    .prepare(
      `SELECT (SELECT coalesce(sum(1), 0) FROM handovers INDEXED BY newest) + (SELECT count(*) FROM damaged) AS listed,
              (SELECT coalesce(sum(files), 0) FROM months) AS files`,
    )
    .get();
  return numberIn(row, 'listed') === numberIn(row, 'files');
}

export const INDEX: CacheDatabase = { name: 'index', version: 4 };

export const CREATE_TABLES: string = `
  CREATE TABLE handovers (
    id TEXT PRIMARY KEY,
    created_ms INTEGER NOT NULL,
    agent TEXT NOT NULL,
    project_id TEXT NOT NULL,
    project_name TEXT NOT NULL,
    root TEXT NOT NULL,
    shown TEXT NOT NULL,
    mark INTEGER NOT NULL
  );
  CREATE INDEX newest ON handovers (created_ms DESC, id DESC);
  CREATE INDEX newest_of_project ON handovers (project_id, created_ms DESC, id DESC);
  CREATE TABLE texts (id TEXT PRIMARY KEY, body TEXT NOT NULL);
  CREATE TABLE months (month TEXT PRIMARY KEY, state TEXT, files INTEGER NOT NULL);
  CREATE TABLE damaged (id TEXT PRIMARY KEY, reason TEXT NOT NULL);
`;

export function pathOfIndex(store: Store): string {
  return pathOfCache(store, INDEX);
}

/** A row of the table `handovers`. `mark` covers the rest, so that rot in a row is seen before it is shown. */
export interface IndexRow {
  id: string;
  created_ms: number;
  agent: string;
  project_id: string;
  project_name: string;
  root: string;
  shown: string;
  mark: number;
}

export const COLUMNS = [
  'id',
  'created_ms',
  'agent',
  'project_id',
  'project_name',
  'root',
  'shown',
  'mark',
] as const;

export function makeIndexRow(handover: Handover): IndexRow {
  const row = {
    id: handover.id,
    created_ms: Date.parse(handover.created_at),
    agent: handover.session.agent.toLowerCase(),
    project_id: handover.project.id,
    project_name: handover.project.name.toLowerCase(),
    root: withoutNul(handover.workspace.root),
    shown: JSON.stringify(describeRow(handover)),
  };
  return { ...row, mark: computeMark(row) };
}

/** SQLite ends a text at its first NUL. */
function withoutNul(text: string): string {
  return text.replaceAll('\u0000', '\ufffd');
}

export function valuesOf(row: IndexRow): SqlValue[] {
  return COLUMNS.map((column) => row[column]);
}

/** Over all other columns. Rot is an accident: no more than a fingerprint is needed. */
export function computeMark(row: Omit<IndexRow, 'mark'>): number {
  const text = [
    row.id,
    row.created_ms,
    row.agent,
    row.project_id,
    row.project_name,
    row.root,
    row.shown,
  ].join('\u0000');
  const { low, high } = takeFingerprint(text);
  return (high & 0x1fffff) * 0x100000000 + low;
}

/** Whether a value that came from the file is a row as it was put there. Nothing is copied: a long list is many rows. */
export function isIndexRow(value: unknown): value is IndexRow {
  return hasColumns(value) && computeMark(value) === value.mark;
}

function hasColumns(value: unknown): value is IndexRow {
  if (typeof value !== 'object' || value === null) return false;
  const row: Partial<Record<keyof IndexRow, unknown>> = value;
  if (typeof row.created_ms !== 'number' || typeof row.mark !== 'number') return false;
  if (typeof row.id !== 'string' || typeof row.agent !== 'string') return false;
  if (typeof row.project_id !== 'string' || typeof row.project_name !== 'string') return false;
  return typeof row.root === 'string' && typeof row.shown === 'string';
}
