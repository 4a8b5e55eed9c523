import { join } from 'node:path';
import { AGENT_NAMES, type AgentName } from '../../agents/agent.ts';
import { loadAgent } from '../../agents/table.ts';
import { HandoverError } from '../../errors.ts';
import { removeFile } from '../../platform/durable-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { acquireLock } from '../../platform/lock.ts';
import { findWorktreeRoot } from '../../platform/project.ts';
import { LOCKS, RELAY_LOCK, type Store } from '../../store/store.ts';
import { keepSession, type SessionOfAgent } from '../capture/keep-session.ts';
import { unmarkBegun } from './begun.ts';
import { READY_FOLDERS } from './folders.ts';
import { enterConsumed, enterJournalNotes } from './journal-notes.ts';
import { prepareReady } from './prepare.ts';
import { findSettings, isPaused } from './settings.ts';
import { awaitTranscript } from './settle.ts';
import { readRecord } from './small-records.ts';
import {
  CAPTURE_EXAMPLE,
  type CaptureNote,
  type Handed,
  listNotes,
  timeOfNote,
  WORKER_STARTS_WITHIN_MS,
} from './spool.ts';
import { trimReady } from './trim.ts';

const LOCK_WAIT_MS = 60_000;
/** A worker that has not come to an end by then leaves the rest to the next one. */
const LONGEST_WORK_MS = 120_000;

/**
 * Captures a session for as long as there are notes of it, then makes ready what hooks need. Only one worker at a time does
 * so for a session; whoever comes while it works waits, and mostly finds nothing left to do. A worker that was handed an
 * answer takes the note of it, and leaves those of others.
 */
export async function workOff(store: Store, key: string, handed: Handed | null = null): Promise<void> {
  const { clock } = store.machine;
  const until = clock.now() + LONGEST_WORK_MS;
  const folder = ensurePrivateFolder(store.root, LOCKS);
  // Sixteen locks for all sessions: each leaves a file behind.
  const lock = acquireLock({ folder, name: `${RELAY_LOCK}${key.slice(0, 1)}`, waitMs: LOCK_WAIT_MS, clock });
  try {
    for (;;) {
      const notes = takeNotes(store, key, handed);
      if (notes.length === 0 || clock.now() > until) break;
      await workOffNotes(store, notes, handed);
    }
    enterJournalNotes(store);
    trimReady(store);
  } finally {
    lock.release();
  }
}

interface TakenNote {
  name: string;
  /** Null for what is no note. */
  note: CaptureNote | null;
}

/** A hook that is installed twice is called twice at once. */
const AT_ONCE_MS = 1000;

/** All notes of a session, but those that another worker is on its way to with an answer. */
function takeNotes(store: Store, key: string, handed: Handed | null): TakenNote[] {
  const nowMs = store.machine.clock.now();
  const ownMs = handed === null ? 0 : timeOfNote(handed.note) + AT_ONCE_MS;
  return listNotes(store.root, key)
    .map((name) => ({ name, note: readRecord(pathOfNote(store, name), CAPTURE_EXAMPLE) }))
    .filter(({ name, note }) => {
      const atMs = timeOfNote(name);
      return note?.isHanded !== true || atMs <= ownMs || nowMs - atMs > WORKER_STARTS_WITHIN_MS;
    });
}

/** Whatever became of it, a note is not looked at twice: the next moment of the session makes a new one. */
async function workOffNotes(store: Store, taken: readonly TakenNote[], handed: Handed | null): Promise<void> {
  try {
    const notes = taken.flatMap(({ note }) => note ?? []);
    const last = notes.at(-1);
    const isOwn = taken.some(({ name }) => name === handed?.note);
    if (last !== undefined) await captureNoted(store, joinNotes(notes, last), isOwn ? handed : null);
  } finally {
    for (const { name } of taken) removeFile(pathOfNote(store, name));
  }
}

function pathOfNote(store: Store, name: string): string {
  return join(store.root, ...READY_FOLDERS.spool, name);
}

/** Several moments of a session are one capture: of the latest, and over if it is over by any of them. */
function joinNotes(notes: readonly CaptureNote[], last: CaptureNote): CaptureNote {
  return {
    ...last,
    moment: notes.some(({ moment }) => moment === 'end') ? 'end' : last.moment,
    transcript: notes.findLast(({ transcript }) => transcript !== null)?.transcript ?? null,
  };
}

async function captureNoted(store: Store, note: CaptureNote, handed: Handed | null): Promise<void> {
  const { machine } = store;
  const root = findWorktreeRoot(note.cwd ?? machine.cwd);
  if (root !== null) {
    const { pauseFile } = await findSettings(store.root, root, machine);
    if (isPaused(root, machine, pauseFile)) return;
  }
  const found = await findNoted(store, note);
  if (found === null || root === null) {
    if (note.moment === 'end' && root !== null) unmarkBegun(store.root, { ...note, root });
    return;
  }
  awaitTranscript(found.session.path, note, handed?.reply ?? null);
  const again = found.agent.inspectFile(found.session.path);
  const current = again?.id === found.session.id ? { ...again, cwd: found.session.cwd } : found.session;
  const kept = await keepSession(
    store,
    { agent: found.agent, session: current },
    {
      ...(note.terminal === null ? {} : { terminal: note.terminal }),
      ...(handed === null ? {} : { lastReply: handed.reply }),
    },
  );
  if (kept.outcome === 'refused') {
    throw new HandoverError(
      'HANDOVER_TRANSCRIPT_DRIFTED',
      `nothing in the transcript of a session of ${note.agent} was understood`,
    );
  }
  prepareReady(store, { note, root, session: current, ...kept });
  enterConsumed(store, note);
  if (note.moment === 'end') unmarkBegun(store.root, { ...note, root });
}

/** The session of a note: by its transcript where the hook named one, else by its id. Null when there is nothing yet. */
async function findNoted(store: Store, note: CaptureNote): Promise<SessionOfAgent | null> {
  const name = AGENT_NAMES.find((one) => one === note.agent);
  if (name === undefined) return null;
  const agent = await loadAgent(name);
  const inspected = note.transcript === null ? null : agent.inspectFile(note.transcript);
  if (inspected !== null && (inspected.id === note.session || isNamedByFile(name))) {
    return { agent, session: { ...inspected, cwd: inspected.cwd ?? note.cwd } };
  }
  for (const session of agent.findSessions(store.machine)) {
    if (session.id === note.session) return { agent, session: { ...session, cwd: session.cwd ?? note.cwd } };
  }
  return null;
}

/** Where a transcript holds one session only, whatever that is called. */
function isNamedByFile(agent: AgentName): boolean {
  return agent !== 'opencode';
}
