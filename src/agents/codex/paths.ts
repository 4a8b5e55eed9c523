import { basename, dirname, join, resolve } from 'node:path';
import { listNames } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';

const TREES = ['sessions', 'archived_sessions'];
/** Year, month, day. */
const MAX_DEPTH = 3;
const ROLLOUT = /^rollout-.*\.jsonl(?:\.zst)?$/;
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const IDS = new RegExp(`-(${UUID})(?:_(${UUID}))?\\.jsonl(?:\\.zst)?$`, 'i');

export function findCodexHome({ env, home, cwd }: Machine): string | null {
  if (env.CODEX_HOME) return resolve(cwd, env.CODEX_HOME);
  return home === undefined ? null : join(home, '.codex');
}

export function* listRollouts(home: string): Generator<string> {
  for (const tree of TREES) yield* listBelow(join(home, tree), MAX_DEPTH);
}

export function listTranscripts(machine: Machine): Iterable<string> {
  const home = findCodexHome(machine);
  return home === null ? [] : listRollouts(home);
}

function* listBelow(folder: string, depth: number): Generator<string> {
  for (const name of listNames(folder)) {
    if (ROLLOUT.test(name)) yield join(folder, name);
    else if (depth > 0 && /^\d+$/.test(name)) yield* listBelow(join(folder, name), depth - 1);
  }
}

export interface RolloutIds {
  thread: string;
  /** Differs from the thread's once the thread was taken back and went on in a new file. */
  rollout: string;
}

export function readIds(path: string): RolloutIds | null {
  const ids = IDS.exec(basename(path));
  const thread = ids?.[1]?.toLowerCase();
  return thread === undefined ? null : { thread, rollout: ids?.[2]?.toLowerCase() ?? thread };
}

/** The rollout with the given id that lies in the same home as the given one; null when it is gone. */
export function findSibling(path: string, rollout: string): string | null {
  let folder = dirname(path);
  for (let up = 0; up <= MAX_DEPTH && !TREES.includes(basename(folder)); up++) folder = dirname(folder);
  if (!TREES.includes(basename(folder))) return null;
  for (const candidate of listRollouts(dirname(folder))) {
    if (readIds(candidate)?.rollout === rollout.toLowerCase()) return candidate;
  }
  return null;
}
