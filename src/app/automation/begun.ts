import { join } from 'node:path';
import { removeFile } from '../../platform/durable-file.ts';
import { listFolder, pathExists } from '../../platform/folders.ts';
import { readStart } from '../../platform/process-identity.ts';
import { keyOfSession, makeKey, READY_FOLDERS } from './folders.ts';
import { readRecord, writeRecord } from './small-records.ts';

/** A session that began in a worktree. Its mark is taken away when it was captured at its end. */
export interface Begun {
  agent: string;
  session: string;
  root: string;
  cwd: string | null;
  transcript: string | null;
  terminal: string | null;
  process: string | null;
  atMs: number;
}

const EXAMPLE: Begun = {
  agent: '',
  session: '',
  root: '',
  cwd: null,
  transcript: null,
  terminal: null,
  process: null,
  atMs: 0,
};

export function markBegun(store: string, begun: Begun): void {
  const [folders, name] = placeOf(begun);
  if (!pathExists(join(store, ...folders, name))) writeRecord(store, [folders, name], begun);
}

export function isMarkedBegun(store: string, begun: Pick<Begun, 'agent' | 'session' | 'root'>): boolean {
  const [folders, name] = placeOf(begun);
  return pathExists(join(store, ...folders, name));
}

export function unmarkBegun(store: string, begun: Pick<Begun, 'agent' | 'session' | 'root'>): void {
  const [folders, name] = placeOf(begun);
  removeFile(join(store, ...folders, name));
}

/** The sessions of a worktree that are not known to be over. */
export function listBegun(store: string, root: string): Begun[] {
  const folder = join(store, ...READY_FOLDERS.begun, makeKey(root));
  return listFolder(folder)
    .sort()
    .flatMap((name) => readRecord(join(folder, name), EXAMPLE) ?? [])
    .filter((begun) => begun.root === root);
}

function placeOf(begun: Pick<Begun, 'agent' | 'session' | 'root'>): [readonly string[], string] {
  return [[...READY_FOLDERS.begun, makeKey(begun.root)], `${keyOfSession(begun)}.json`];
}

/** Whether a run of a process goes on. */
export function judgeLife(process: string | null): 'running' | 'over' | 'unknown' {
  const [, pid, start] = /^(\d+)-(\d+)$/.exec(process ?? '') ?? [];
  if (pid === undefined || start === undefined) return 'unknown';
  return readStart(Number(pid)) === start ? 'running' : 'over';
}
