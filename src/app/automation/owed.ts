import { join } from 'node:path';
import type { StartSource } from '../../agents/hook-input.ts';
import { removeFile } from '../../platform/durable-file.ts';
import { READY_FOLDERS } from './folders.ts';
import { readRecord, writeRecord } from './small-records.ts';

/** What could not be given when it was due: it was not ready, or the agent would not have taken it. */
export interface Owed {
  agent: string;
  session: string;
  source: StartSource;
  atMs: number;
}

const EXAMPLE: Owed = { agent: '', session: '', source: 'new', atMs: 0 };
const SOURCES: ReadonlySet<string> = new Set([
  'new',
  'resume',
  'clear',
  'compaction',
] satisfies StartSource[]);

export function owe(store: string, key: string, owed: Owed): void {
  writeRecord(store, [READY_FOLDERS.owed, `${key}.json`], owed);
}

export function findOwed(store: string, key: string): Owed | null {
  const owed = readRecord(join(store, ...READY_FOLDERS.owed, `${key}.json`), EXAMPLE);
  return owed !== null && SOURCES.has(owed.source) ? owed : null;
}

export function settleOwed(store: string, key: string): void {
  removeFile(join(store, ...READY_FOLDERS.owed, `${key}.json`));
}
