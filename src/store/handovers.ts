import { join } from 'node:path';
import { catchIf, HandoverError, hasErrno, isFailure, isHandoverError } from '../errors.ts';
import { formatHandover, openHandover } from '../handover/seal.ts';
import type { Handover } from '../model/handover.ts';
import { makeHandoverId } from '../model/id.ts';
import { RECORD_LIMITS } from '../model/json.ts';
import { formatTimestamp } from '../model/time.ts';
import { createFileDurably, moveFileDurably, readRegularFile, removeFile } from '../platform/durable-file.ts';
import { ensurePrivateFolder, listFolder, pathExists } from '../platform/folders.ts';
import { withLock } from '../platform/lock.ts';
import { appendEntry, nextTimestamp } from './journal.ts';
import {
  BEING_FORGOTTEN,
  BRIEFS_BY_HANDOVER,
  HANDOVERS,
  idOfName,
  LOCKS,
  monthOf,
  nameOfHandover,
  PREPARED_BRIEFS,
  pathOfHandover,
  type Store,
} from './store.ts';

export type Stamp = { id: string; created_at: string };

export interface SaveResult {
  handover: Handover;
  path: string;
  /** The handover is safe, but its journal line could not be written. */
  journalFailure: Error | null;
}

const MAX_ID_ATTEMPTS = 64;
/** More than is ever written: earlier versions counted characters. */
const MAX_FILE_BYTES = RECORD_LIMITS.maxBytes * 2;

/** Stamps, seals and saves a handover, durably and without a lock. The commit point is the appearance of its file. */
export function saveHandover(store: Store, seal: (stamp: Stamp) => Handover): SaveResult {
  const createdMs = nextTimestamp(store);
  const created_at = formatTimestamp(createdMs);
  for (let attempt = 0; attempt < MAX_ID_ATTEMPTS; attempt++) {
    const handover = seal({ id: makeHandoverId(createdMs, store.machine.random.bytes(3)), created_at });
    if (createHandoverFile(store, handover)) return journalSave(store, handover, 'saved');
  }
  throw new HandoverError('HANDOVER_IO', 'no free handover id was found', { hint: 'Try again in a second.' });
}

/** Saves a handover that already has its id. Null when that id is taken; the store is then unchanged. */
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

/** Serializes the creation of files where the file system has no hard links to do so. */
export function withCreationLock<T>(store: Store, work: () => T): T {
  const folder = ensurePrivateFolder(store.root, LOCKS);
  return withLock({ folder, name: CREATION_LOCK, waitMs: LOCK_WAIT_MS, clock: store.machine.clock }, work);
}

function journalSave(store: Store, handover: Handover, event: 'saved' | 'migrated'): SaveResult {
  const { id, checksum, created_at } = handover;
  const path = pathOfHandover(store, id);
  const at = event === 'saved' ? { at: created_at } : {};
  try {
    appendEntry(store, { ...at, event, subject: id, detail: { checksum } });
    return { handover, path, journalFailure: null };
  } catch (error) {
    if (!isFailure(error)) throw error;
    return { handover, path, journalFailure: error };
  }
}

export function hasHandover(store: Store, id: string): boolean {
  return pathExists(pathOfHandover(store, id));
}

/** Reads and verifies one handover. Null when there is none with this id. */
export function readHandover(store: Store, id: string): Handover | null {
  return readHandoverFile(pathOfHandover(store, id), id);
}

function readHandoverFile(path: string, id: string): Handover | null {
  return catchIf(isGone, null, () => openHandover(readRegularFile(path, MAX_FILE_BYTES), id, path));
}

function isGone(error: unknown): boolean {
  return hasErrno(error, 'ENOENT', 'ENOTDIR');
}

/** Null also for a damaged one, which `doctor` reports. */
export function readIntact(store: Store, id: string): Handover | null {
  return readIntactFile(pathOfHandover(store, id), id);
}

function readIntactFile(path: string, id: string): Handover | null {
  return catchIf(isHandoverError, null, () => readHandoverFile(path, id));
}

const MAX_HISTORY = 100;

/** The handovers that one goes back to, the oldest first. A forgotten or damaged one ends the chain. */
export function readHistory(store: Store, handover: Handover): Handover[] {
  const history: Handover[] = [];
  const seen = new Set([handover.id]);
  for (let id = handover.previous; id !== null && history.length < MAX_HISTORY; ) {
    const earlier: Handover | null = seen.has(id) ? null : readIntact(store, id);
    if (earlier === null) break;
    seen.add(id);
    history.unshift(earlier);
    id = earlier.previous;
  }
  return history;
}

/** Removes a handover for good. The rename out of its month commits; `finishForgetting` completes it after a kill. */
export function forgetHandover(store: Store, id: string, reason?: string): boolean {
  if (!hasHandover(store, id)) return false;
  // Refuses a link in the path, through which the file of somebody else would be removed.
  ensurePrivateFolder(store.root, HANDOVERS, ...monthOf(id));
  const folder = ensurePrivateFolder(store.root, BEING_FORGOTTEN);
  try {
    moveFileDurably(pathOfHandover(store, id), join(folder, nameOfHandover(id)));
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
  finishForgetting(store, reason === undefined ? undefined : new Map([[id, reason]]));
  return true;
}

/** Whether a removal was begun and not yet completed. */
export function isBeingForgotten(store: Store, id: string): boolean {
  return pathExists(join(store.root, BEING_FORGOTTEN, nameOfHandover(id)));
}

/** Completes every removal that was begun: journal first, so that a missing file is never unexplained. */
export function finishForgetting(store: Store, reasons?: ReadonlyMap<string, string>): string[] {
  const folder = join(store.root, BEING_FORGOTTEN);
  return listFolder(folder).flatMap((name) => {
    const id = idOfName(name);
    if (id === null) return [];
    const path = join(folder, name);
    const reason = reasons?.get(id);
    // A session named here is not captured again by itself unless it goes on.
    const session = readIntactFile(path, id)?.session;
    appendEntry(store, {
      event: 'forgotten',
      subject: id,
      ...(session === undefined || session.id === null
        ? {}
        : { session: session.id, detail: { agent: session.agent } }),
      ...(reason === undefined ? {} : { reason }),
    });
    dropPreparedBrief(store, id);
    removeFile(path);
    return [id];
  });
}

const MAX_PREPARED_BYTES = 1024 * 1024;
const PREPARED_NAME = /^[0-9a-f]{16}\.json$/;

/** Removes the brief that was prepared of a handover, so that no hook delivers what was forgotten. */
function dropPreparedBrief(store: Store, id: string): void {
  const note = join(store.root, ...BRIEFS_BY_HANDOVER, id);
  const name = readTextOrNothing(note);
  if (PREPARED_NAME.test(name)) {
    const path = join(store.root, ...PREPARED_BRIEFS, name);
    // The session may have gone on, and a later handover of it may have been prepared.
    if (readTextOrNothing(path).includes(`"handover":"${id}"`)) removeFile(path);
  }
  removeFile(note);
}

function readTextOrNothing(path: string): string {
  return catchIf(isFailure, '', () => readRegularFile(path, MAX_PREPARED_BYTES).toString('utf8'));
}
