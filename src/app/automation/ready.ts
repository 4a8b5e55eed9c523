import { join } from 'node:path';
import { parseAny } from '../../agents/shared/json.ts';
import { printLongFingerprint } from '../../model/hash.ts';
import { pathExists } from '../../platform/folders.ts';
import { HANDOVERS, READY } from '../../store/store.ts';
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
  schema: 'ready/3';
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
  /** Of the briefs. */
  marks: Record<BriefFor, string>;
}

/** For the agent whose session it was, or for any other. */
export type BriefFor = 'own' | 'any';

const EXAMPLE: Ready = {
  schema: 'ready/3',
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
  marks: { own: '', any: '' },
};

export interface OpenedReady {
  ready: Ready;
  /** Looked at only when it is to be given. Null when it is not what was written. */
  readBrief(of: BriefFor): string | null;
}

/** A ready file that is not what was written is as good as none, but told apart: somebody should know. */
export type FoundReady = OpenedReady | { ready: null; isDamaged: boolean };

export const KEY_NAME = 'key';

/**
 * A ready file has four lines: a mark, what is ready, and the two briefs, as JSON. The mark is over the second line, which
 * has the marks of the others. The key in them is this store's own, so that a file that was not written here does not pass,
 * whatever it says of itself; who can read a ready file can read the key beside it, so a stronger mark would keep nobody out.
 */
export function printReady(
  key: string,
  ready: Omit<Ready, 'marks'>,
  briefs: Readonly<Record<BriefFor, string>>,
): string {
  const [own, any] = [JSON.stringify(briefs.own), JSON.stringify(briefs.any)];
  const head = JSON.stringify({ ...ready, marks: { own: makeMark(key, own), any: makeMark(key, any) } });
  return [makeMark(key, head), head, own, any, ''].join('\n');
}

function makeMark(key: string, text: string): string {
  return printLongFingerprint(`${key}\n${text}`);
}

export function openReady(store: string, session: { agent: string; session: string }): FoundReady {
  const text = readSmallFile(pathOfReady(store, keyOfSession(session)));
  if (text === null) return { ready: null, isDamaged: false };
  const key = readSmallFile(join(store, READY, KEY_NAME));
  const [mark, head = '', own = '', any = ''] = text.split('\n');
  const ready = key !== null && mark === makeMark(key, head) ? parseRecord(head, EXAMPLE) : null;
  if (key === null || ready === null) return { ready: null, isDamaged: true };
  if (ready.agent !== session.agent || ready.session !== session.session)
    return { ready: null, isDamaged: false };
  const lines = { own, any };
  const readBrief = (of: BriefFor): string | null =>
    makeMark(key, lines[of]) === ready.marks[of] ? parseText(lines[of]) : null;
  return { ready, readBrief };
}

function parseText(json: string): string | null {
  const value = parseAny(json);
  return typeof value === 'string' ? value : null;
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
