import { join } from 'node:path';
import type { HookMoment } from '../../agents/hook-input.ts';
import { writeSmallCacheFile } from '../../platform/cache-file.ts';
import { ensurePrivateFolder, listFolder } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Begun } from './begun.ts';
import { READY_FOLDERS } from './folders.ts';

/** That a session has come to a moment at which it is captured, and what only the hook knew. */
export interface CaptureNote {
  kind: 'capture';
  moment: HookMoment;
  agent: string;
  session: string;
  cwd: string | null;
  transcript: string | null;
  terminal: string | null;
  /** The run of the agent's process; null where it cannot be told. */
  process: string | null;
  /** Whether a worker with the agent's last answer is on its way to this note. */
  isHanded: boolean;
  atMs: number;
  /** When the session was last seen alive; null for now. */
  lastMs: number | null;
}

/**
 * What a hook hands to the worker that it starts: the agent's last answer, and the note that it belongs to. It is as the agent
 * said it, with any secret in it, so it goes from process to process and never into a file.
 */
export interface Handed {
  /** The name of the note. */
  note: string;
  reply: string;
}

export const HANDED_EXAMPLE: Handed = { note: '', reply: '' };

/** That something happened to a handover, to be entered in the journal. */
export interface JournalNote {
  kind: 'journal';
  event: 'delivered' | 'rejected_stale' | 'rejected_invalid';
  handover: string;
  session: string;
  reason: string;
  atMs: number;
}

export const CAPTURE_EXAMPLE: CaptureNote = {
  kind: 'capture',
  moment: 'turn',
  agent: '',
  session: '',
  cwd: null,
  transcript: null,
  terminal: null,
  process: null,
  isHanded: false,
  atMs: 0,
  lastMs: null,
};
export const JOURNAL_EXAMPLE: JournalNote = {
  kind: 'journal',
  event: 'delivered',
  handover: '',
  session: '',
  reason: '',
  atMs: 0,
};

/** The note of a session at a moment, with nothing handed over yet. */
export function describeCapture(
  { agent, session, cwd, transcript, terminal, process }: Begun,
  { moment, atMs, lastMs }: Pick<CaptureNote, 'moment' | 'atMs' | 'lastMs'>,
): CaptureNote {
  return {
    kind: 'capture',
    moment,
    agent,
    session,
    cwd,
    transcript,
    terminal,
    process,
    isHanded: false,
    atMs,
    lastMs,
  };
}

/** A worker that was started within this time may still be on its way to its first note. */
export const WORKER_STARTS_WITHIN_MS = 10_000;

/** Notes for the journal wait for whichever worker comes next. */
export const JOURNAL_QUEUE = 'journal';

/** Leaves a note in a queue: that of a session, by its key, or that of the journal. Its name is returned. */
export function writeNote(
  store: string,
  queue: string,
  { note, machine }: { note: CaptureNote | JournalNote; machine: Machine },
): string {
  const folder = ensurePrivateFolder(store, ...READY_FOLDERS.spool);
  const chance = Buffer.from(machine.random.bytes(4)).toString('hex');
  const name = `${queue}.${String(note.atMs).padStart(15, '0')}-${chance}.json`;
  writeSmallCacheFile(join(folder, name), JSON.stringify(note));
  return name;
}

/** The notes of a queue, oldest first. */
export function listNotes(store: string, queue: string): string[] {
  return listFolder(join(store, ...READY_FOLDERS.spool))
    .filter((name) => name.startsWith(`${queue}.`) && name.endsWith('.json'))
    .sort();
}

/** Whether any session of these keys still waits to be captured. */
export function isCaptureDue(store: string, keys: ReadonlySet<string>): boolean {
  return listFolder(join(store, ...READY_FOLDERS.spool)).some((name) =>
    keys.has(name.split('.', 1)[0] ?? ''),
  );
}

export function timeOfNote(name: string): number {
  return Number(name.split('.')[1]?.split('-')[0] ?? Number.NaN);
}
