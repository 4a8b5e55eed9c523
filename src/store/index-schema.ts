import type { Handover } from '../model/handover.ts';
import { takeFingerprint } from '../model/hash.ts';
import { type CacheDatabase, pathOfCache } from '../platform/cache-database.ts';
import type { SqlValue } from '../platform/sqlite.ts';
import { describeRow } from './catalog.ts';
import type { Store } from './store.ts';

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
