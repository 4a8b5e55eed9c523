import { join } from 'node:path';
import { createCacheFile } from '../../platform/cache-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { READY_FOLDERS } from './folders.ts';
import { readRecord } from './small-records.ts';

/** One giving of a handover to a session. */
export interface Given {
  agent: string;
  session: string;
  handover: string;
  form: string;
  /** Of the session that it was given to, as far as was known. */
  compactions: number;
  /** The run of the agent; null where the system does not tell. */
  process: string | null;
  atMs: number;
}

const EXAMPLE: Given = {
  agent: '',
  session: '',
  handover: '',
  form: '',
  compactions: 0,
  process: null,
  atMs: 0,
};

/** A hook that is installed twice is called twice at once, by one run of the agent. */
const AT_ONCE_MS = 5000;

/** What a session was given so far, oldest first. It is never much: sessions are given something when they lost it. */
export function listGiven(store: string, key: string): Given[] {
  const given: Given[] = [];
  for (;;) {
    const one = readRecord(join(store, ...READY_FOLDERS.given, nameGiven(key, given.length + 1)), EXAMPLE);
    if (one === null) return given;
    given.push(one);
  }
}

interface Claim {
  given: Given;
  /** What was given before, as it was when that was decided. */
  before: readonly Given[];
}

/**
 * Notes that something is about to be given. False when it may not be: another hook of the same session is giving it just
 * now, or has.
 */
export function claimGiving(store: string, key: string, { given, before }: Claim): boolean {
  const last = before.at(-1);
  const isTwin =
    last !== undefined &&
    last.handover === given.handover &&
    last.form === given.form &&
    last.process === given.process &&
    Math.abs(given.atMs - last.atMs) < AT_ONCE_MS;
  if (isTwin) return false;
  const folder = ensurePrivateFolder(store, ...READY_FOLDERS.given);
  return createCacheFile(join(folder, nameGiven(key, before.length + 1)), JSON.stringify(given));
}

function nameGiven(key: string, number: number): string {
  return `${key}.${number}.json`;
}
