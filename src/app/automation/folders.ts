import { join } from 'node:path';
import { printFingerprint } from '../../model/hash.ts';
import { CODE_FOLDER } from '../../platform/paths.ts';
import { READY, READY_BY_HANDOVER, READY_SESSIONS, SPOOL } from '../../store/store.ts';

/**
 * What lies ready for hooks, below the store. Names are keys of what they stand for; the full value is in the file, and is
 * compared, so that two values with one key can never be taken for each other.
 */
export const READY_FOLDERS = {
  /** A sealed brief for each session that was captured. */
  sessions: READY_SESSIONS,
  /** Of which session a handover is ready. */
  handovers: READY_BY_HANDOVER,
  /** The session that was last captured in a terminal. */
  terminals: [READY, 'terminals'],
  /** The session that was last captured in a worktree. */
  worktrees: [READY, 'worktrees'],
  /** What was given to a session, numbered. */
  given: [READY, 'given'],
  /** Sessions that began and are not known to be over: a folder for each worktree. */
  begun: [READY, 'begun'],
  /** What a session is to get with its next prompt. */
  owed: [READY, 'owed'],
  /** The hook itself, as it was compiled. */
  code: CODE_FOLDER,
  spool: [SPOOL],
} as const satisfies Record<string, readonly string[]>;

/** It only names files. */
export function makeKey(...parts: readonly string[]): string {
  return printFingerprint(parts.join('\n'));
}

export function keyOfSession({ agent, session }: { agent: string; session: string }): string {
  return makeKey(agent, session);
}

export function pathOfReady(store: string, key: string): string {
  return join(store, ...READY_FOLDERS.sessions, `${key}.json`);
}
