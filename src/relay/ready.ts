import { join } from 'node:path';
import { pathExists } from '../platform/folders.ts';
import { HANDOVERS, READY } from '../store/store.ts';
import { keyOfSession, makeKey, pathOfReady, READY_FOLDERS } from './folders.ts';
import { parseRecord, readRecord, readSmallFile } from './small-records.ts';

/** A file that a session changed, as it was when the session was captured. */
export interface Evidence {
  path: string;
  /** How it is shown: without anything that a reader could mistake. */
  shown: string;
  /** Null for a file that was not there. */
  size: number | null;
  changedMs: number | null;
}

/** All that a hook needs to hand a session over: nothing else is read but the files that it names. */
export interface Ready {
  schema: 'ready/1';
  agent: string;
  session: string;
  handover: string;
  /** Of the handover. */
  checksum: string;
  /** When the session was last read; its handover may be older, if nothing was new. */
  capturedMs: number;
  root: string;
  terminal: string | null;
  process: string | null;
  /** Whether its agent said that it is over. */
  isEnded: boolean;
  transcript: string | null;
  transcriptBytes: number;
  compactions: number;
  title: string;
  head: string | null;
  files: Evidence[];
  /** For the agent whose session it was. */
  brief: string;
  /** For any other agent. */
  anyBrief: string;
}

const EXAMPLE: Ready = {
  schema: 'ready/1',
  agent: '',
  session: '',
  handover: '',
  checksum: '',
  capturedMs: 0,
  root: '',
  terminal: null,
  process: null,
  isEnded: false,
  transcript: null,
  transcriptBytes: 0,
  compactions: 0,
  title: '',
  head: null,
  files: [],
  brief: '',
  anyBrief: '',
};

/** A ready file that is not what was written is as good as none, but told apart: somebody should know. */
export type FoundReady = { ready: Ready } | { ready: null; isDamaged: boolean };

export const KEY_NAME = 'key';

/**
 * A ready file is a line with a keyed checksum, then JSON. The key is this store's own, so that a file that was not written
 * here does not pass, whatever it says of itself.
 */
export async function openReady(
  store: string,
  session: { agent: string; session: string },
): Promise<FoundReady> {
  const text = readSmallFile(pathOfReady(store, keyOfSession(session)));
  if (text === null) return { ready: null, isDamaged: false };
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  const key = readSmallFile(join(store, READY, KEY_NAME));
  const { computeMac } = await import('./mac.ts');
  const isWhole = key !== null && end !== -1 && text.slice(0, end) === computeMac(key, body);
  const ready = isWhole ? parseRecord(body, EXAMPLE) : null;
  if (ready === null) return { ready: null, isDamaged: true };
  const isOther = ready.agent !== session.agent || ready.session !== session.session;
  return isOther ? { ready: null, isDamaged: false } : { ready };
}

/** Where to look for the session that was last captured somewhere. It selects only: what is found is checked again. */
export interface Pointer {
  value: string;
  agent: string;
  session: string;
  root: string;
  process: string | null;
  capturedMs: number;
}

const POINTER_EXAMPLE: Pointer = {
  value: '',
  agent: '',
  session: '',
  root: '',
  process: null,
  capturedMs: 0,
};

export function findPointer(store: string, of: 'terminals' | 'worktrees', value: string): Pointer | null {
  const pointer = readRecord(join(store, ...READY_FOLDERS[of], `${makeKey(value)}.json`), POINTER_EXAMPLE);
  return pointer !== null && pointer.value === value ? pointer : null;
}

/** Whether the handover is still kept. Who forgot it wants nobody to be told of it. */
export function isStillKept(store: string, { handover }: Ready): boolean {
  return pathExists(join(store, HANDOVERS, handover.slice(0, 4), handover.slice(4, 6), `${handover}.json`));
}
