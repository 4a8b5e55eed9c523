import type { Handover } from '../model/handover.ts';
import { takeLongFingerprint } from '../model/hash.ts';
import { type CacheDatabase, numberIn, pathOfCache, textIn } from '../platform/cache-database.ts';
import { readFolderState } from '../platform/folders.ts';
import type { SqlDatabase } from '../platform/sqlite.ts';
import { describeRow, timeOfChange } from './catalog.ts';
import { folderOfMonth, listMonths, type Month, type Store } from './store.ts';

/** The version rises with that of handovers, so that those which were too new are read again. */
export const INDEX: CacheDatabase = { name: 'index', version: 11 };

/** The session of a row. */
export const SESSION = "json_extract(shown, '$.session')";

export const CREATE_TABLES: string = `
  CREATE TABLE handovers (
    id TEXT PRIMARY KEY,
    created_ms INTEGER NOT NULL,
    worked_ms INTEGER NOT NULL,
    agent TEXT NOT NULL,
    project_id TEXT NOT NULL,
    project_name TEXT NOT NULL,
    root TEXT NOT NULL,
    shown TEXT NOT NULL,
    mark INTEGER NOT NULL
  );
  CREATE INDEX newest ON handovers (created_ms DESC, id DESC);
  CREATE INDEX newest_of_project ON handovers (project_id, created_ms DESC, id DESC);
  CREATE INDEX worked ON handovers (worked_ms DESC, created_ms DESC, id DESC);
  CREATE INDEX worked_of_project ON handovers (project_id, worked_ms DESC, created_ms DESC, id DESC);
  CREATE INDEX sessions ON handovers (${SESSION}, agent);
  CREATE TABLE texts (id TEXT PRIMARY KEY, body TEXT NOT NULL);
  CREATE TABLE months (month TEXT PRIMARY KEY, state TEXT, files INTEGER NOT NULL);
  CREATE TABLE damaged (id TEXT PRIMARY KEY, reason TEXT NOT NULL, is_newer INTEGER NOT NULL);
`;

export function pathOfIndex(store: Store): string {
  return pathOfCache(store, INDEX);
}

export const COLUMNS = [
  ...(['id', 'created_ms', 'worked_ms', 'agent', 'project_id', 'project_name', 'root', 'shown', 'mark'] as const),
];

/** A row of the table `handovers`. `mark` covers the rest, so that rot in a row is seen before it is shown. */
export type IndexRow = Record<Exclude<(typeof COLUMNS)[number], NumberColumn>, string> & Record<NumberColumn, number>;
type NumberColumn = 'created_ms' | 'worked_ms' | 'mark';

export function makeIndexRow(handover: Handover): IndexRow {
  const shown = describeRow(handover);
  const row = {
    id: handover.id,
    created_ms: Date.parse(handover.created_at),
    worked_ms: Date.parse(timeOfChange(shown)),
    agent: handover.session.agent.toLowerCase(),
    project_id: handover.project.id,
    project_name: handover.project.name.toLowerCase(),
    // SQLite ends a text at its first NUL.
    root: handover.workspace.root.replaceAll('\u0000', '\ufffd'),
    shown: JSON.stringify(shown),
  };
  return { ...row, mark: markRow(row) };
}

function markRow(row: Omit<IndexRow, 'mark'>): number {
  const { id, created_ms, worked_ms, agent, project_id, project_name, root, shown } = row;
  return computeMark([id, created_ms, worked_ms, agent, project_id, project_name, root, shown]);
}

/** Over all other values of a row. It guards against accidents, so a fingerprint is enough. */
export function computeMark(values: readonly unknown[]): number {
  const { low, high } = takeLongFingerprint(values.join('\u0000'));
  return (high & 0x1fffff) * 0x100000000 + low;
}

/** Whether a value from the file is a row as it was written. Nothing is copied: a list may have many rows. */
export function isIndexRow(value: unknown): value is IndexRow {
  return hasColumns(value) && markRow(value) === value.mark;
}

function hasColumns(value: unknown): value is IndexRow {
  if (typeof value !== 'object' || value === null) return false;
  const row: Partial<Record<keyof IndexRow, unknown>> = value;
  if (typeof row.created_ms !== 'number' || typeof row.worked_ms !== 'number') return false;
  if (typeof row.mark !== 'number') return false;
  if (typeof row.id !== 'string' || typeof row.agent !== 'string') return false;
  if (typeof row.project_id !== 'string' || typeof row.project_name !== 'string') return false;
  return typeof row.root === 'string' && typeof row.shown === 'string';
}

export interface ChangedMonth {
  month: Month;
  /** Taken before the names are read: what changes in between is seen next time. */
  state: string | null;
}

/** The months whose folders are not, or not certainly, as the index last saw them. Costs one stat a month. */
export function findChangedMonths(store: Store, database: SqlDatabase): ChangedMonth[] {
  const rows = database.prepare('SELECT month, state FROM months').all();
  const known = new Map(rows.map((row) => [textIn(row, 'month'), textIn(row, 'state')]));
  const stateOf = (month: Month): string | null => readFolderState(folderOfMonth(store, month));
  const present = listMonths(store).map((month) => ({ month, state: stateOf(month) }));
  const names = new Set(present.map(({ month }) => month.join('/')));
  const gone = [...known.keys()].filter((name) => !names.has(name));
  const vanished = gone.map((name): ChangedMonth => {
    const [year = '', month = ''] = name.split('/');
    return { month: [year, month], state: null };
  });
  const differs = ({ month, state }: ChangedMonth) => state === null || known.get(month.join('/')) !== state;
  return [...present.filter(differs), ...vanished];
}

/**
 * Whether the index lists as many handovers as it took in: rot in the structure of a page can hide rows. It counts
 * `newest` and `worked`, which lists are read from; a plain count would take whichever index is smallest. Too slow for a
 * large index.
 */
export function isComplete(database: SqlDatabase): boolean {
  const row = database
    .prepare(
      `SELECT (SELECT coalesce(sum(1), 0) FROM handovers INDEXED BY newest) AS newest,
              (SELECT coalesce(sum(1), 0) FROM handovers INDEXED BY worked) AS worked,
              (SELECT coalesce(sum(files), 0) FROM months) - (SELECT count(*) FROM damaged) AS taken`,
    )
    .get();
  const taken = numberIn(row, 'taken');
  return numberIn(row, 'newest') === taken && numberIn(row, 'worked') === taken;
}
