import { join } from 'node:path';
import { HandoverError, hasErrno, isErrno } from '../errors.ts';
import { formatHandover, openHandover } from '../handover/seal.ts';
import type { Handover } from '../model/handover.ts';
import { makeHandoverId } from '../model/id.ts';
import type { JournalDraft } from '../model/journal-entry.ts';
import { RECORD_LIMITS } from '../model/json.ts';
import { formatTimestamp } from '../model/time.ts';
import { createFileDurably, moveFileDurably, readRegularFile, removeFile } from '../platform/durable-file.ts';
import { ensurePrivateFolder, listFolder, pathExists } from '../platform/folders.ts';
import { withLock } from '../platform/lock.ts';
import { appendEntry, nextTimestamp } from './journal.ts';
import {
  HANDOVERS,
  idOfName,
  LEAVING,
  LOCKS,
  monthOf,
  nameOfHandover,
  pathOfHandover,
  READY,
  type Store,
} from './store.ts';

/** Which file holds what lies ready of a handover, by the handover's id. */
export const READY_BY_HANDOVER: readonly string[] = [READY, 'handovers'];
export const READY_SESSIONS: readonly string[] = [READY, 'sessions'];

const MAX_BYTES = 1024 * 1024;
const NAME = /^[0-9a-f]{16}\.json$/;

/** Takes away what lies ready of a handover: who forgets it wants it to be told to nobody. */
export function dropPreparedBrief(store: Store, id: string): void {
  const note = join(store.root, ...READY_BY_HANDOVER, id);
  const name = readOrNothing(note);
  if (NAME.test(name)) {
    const path = join(store.root, ...READY_SESSIONS, name);
    // The session may have gone on since, and lie ready with a later handover.
    if (readOrNothing(path).includes(`"handover":"${id}"`)) removeFile(path);
  }
  removeFile(note);
}

function readOrNothing(path: string): string {
  try {
    return readRegularFile(path, MAX_BYTES).toString('utf8');
  } catch (error) {
    if (isErrno(error) || error instanceof HandoverError) return '';
    throw error;
  }
}

export interface Stamp {
  id: string;
  created_at: string;
}

export interface SaveResult {
  handover: Handover;
  path: string;
  /** The handover is safe, but its journal line could not be written. */
  journalFailure: Error | null;
}

const MAX_ID_ATTEMPTS = 64;
const MAX_FILE_BYTES = RECORD_LIMITS.maxBytes * 2;

/**
 * Gives a new handover its time and id, has it sealed by `seal`, and keeps it. The one commit point is the appearance
 * of its file; when this returns, file and name are durable. No lock is taken and no index is waited for.
 */
export function saveHandover(store: Store, seal: (stamp: Stamp) => Handover): SaveResult {
  const createdMs = nextTimestamp(store);
  for (let attempt = 0; attempt < MAX_ID_ATTEMPTS; attempt++) {
    const id = makeHandoverId(createdMs, store.machine.random.bytes(3));
    const handover = seal({ id, created_at: formatTimestamp(createdMs) });
    if (createHandoverFile(store, handover)) return journalSave(store, handover, 'saved');
  }
  throw new HandoverError('HANDOVER_IO', 'no free handover id was found', { hint: 'Try again in a second.' });
}

/** Keeps a handover that already has its id. False when that id is taken; the store is then unchanged. */
export function saveMigratedHandover(store: Store, handover: Handover): SaveResult | null {
  return createHandoverFile(store, handover) ? journalSave(store, handover, 'migrated') : null;
}

export function createHandoverFile(store: Store, handover: Handover): boolean {
  ensurePrivateFolder(store.root, HANDOVERS, ...monthOf(handover.id));
  return createFileDurably(pathOfHandover(store, handover.id), formatHandover(handover), (work) =>
    withCreationLock(store, work),
  );
}

const LOCK_WAIT_MS = 2000;
export const CREATION_LOCK = 'create';

/** Keeps creators of handovers apart where the file system has no hard links to do so. */
export function withCreationLock<T>(store: Store, work: () => T): T {
  const folder = ensurePrivateFolder(store.root, LOCKS);
  return withLock({ folder, name: CREATION_LOCK, waitMs: LOCK_WAIT_MS, clock: store.machine.clock }, work);
}

function journalSave(store: Store, handover: Handover, event: 'saved' | 'migrated'): SaveResult {
  const path = pathOfHandover(store, handover.id);
  const at = event === 'saved' ? handover.created_at : formatTimestamp(nextTimestamp(store));
  try {
    appendEntry(store, { at, event, subject: handover.id, detail: { checksum: handover.checksum } });
    return { handover, path, journalFailure: null };
  } catch (error) {
    if (!isErrno(error) && !(error instanceof HandoverError)) throw error;
    return { handover, path, journalFailure: error };
  }
}

export function hasHandover(store: Store, id: string): boolean {
  return pathExists(pathOfHandover(store, id));
}

/** Reads and verifies one handover. Null when there is none with this id. */
export function readHandover(store: Store, id: string): Handover | null {
  const path = pathOfHandover(store, id);
  try {
    return openHandover(readRegularFile(path, MAX_FILE_BYTES), id, path);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}

/** Null also for what is damaged: whoever only goes on from it goes on without, and `doctor` reports it. */
export function readIntact(store: Store, id: string): Handover | null {
  try {
    return readHandover(store, id);
  } catch (error) {
    if (error instanceof HandoverError) return null;
    throw error;
  }
}

/**
 * Takes a handover out of the store for good. The rename out of its month is the commit point; a command that is
 * killed after it is finished by `finishLeaving`.
 */
export function forgetHandover(store: Store, id: string, reason?: string): boolean {
  if (!hasHandover(store, id)) return false;
  // Through a link in its way, the file of somebody else would go.
  ensurePrivateFolder(store.root, HANDOVERS, ...monthOf(id));
  const folder = ensurePrivateFolder(store.root, LEAVING);
  try {
    moveFileDurably(pathOfHandover(store, id), join(folder, nameOfHandover(id)));
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
  finishForgetting(store, reason === undefined ? undefined : new Map([[id, reason]]));
  return true;
}

/** Whether a removal was begun and not yet completed. */
export function isBeingForgotten(store: Store, id: string): boolean {
  return pathExists(join(store.root, LEAVING, nameOfHandover(id)));
}

/** Of which session it was: that one is not captured again by itself as long as it does not go on. */
function nameSession(path: string, id: string): Pick<JournalDraft, 'session' | 'detail'> {
  try {
    const { agent, id: session } = openHandover(readRegularFile(path, MAX_FILE_BYTES), id, path).session;
    return session === null ? {} : { session, detail: { agent } };
  } catch (error) {
    if (error instanceof HandoverError || hasErrno(error, 'ENOENT')) return {};
    throw error;
  }
}

/** Completes every removal that was begun: journal first, so that a missing file is never unexplained. */
export function finishForgetting(store: Store, reasons?: ReadonlyMap<string, string>): string[] {
  const folder = join(store.root, LEAVING);
  const finished: string[] = [];
  for (const name of listFolder(folder)) {
    const id = idOfName(name);
    if (id === null) continue;
    const at = formatTimestamp(nextTimestamp(store));
    const reason = reasons?.get(id);
    appendEntry(store, {
      at,
      event: 'forgotten',
      subject: id,
      ...nameSession(join(folder, name), id),
      ...(reason === undefined ? {} : { reason }),
    });
    dropPreparedBrief(store, id);
    removeFile(join(folder, name));
    finished.push(id);
  }
  return finished;
}

const MAX_EARLIER = 100;

/** The handovers that one goes back to, the oldest first. What was forgotten, or is damaged, ends the chain. */
export function readHistory(store: Store, handover: Handover): Handover[] {
  const chain: Handover[] = [];
  const seen = new Set([handover.id]);
  for (let id = handover.previous; id !== null && chain.length < MAX_EARLIER; ) {
    const earlier: Handover | null = seen.has(id) ? null : readIntact(store, id);
    if (earlier === null) break;
    seen.add(id);
    chain.unshift(earlier);
    id = earlier.previous;
  }
  return chain;
}
