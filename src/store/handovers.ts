import { join } from 'node:path';
import { attempt, catchErrno, catchIf, HandoverError, isFailure, isHandoverError, rescue } from '../errors.ts';
import { formatHandover, openHandover } from '../handover/seal.ts';
import { findWriter, type Handover } from '../model/handover.ts';
import { isHandoverId, makeHandoverId } from '../model/id.ts';
import type { JournalDraft } from '../model/journal-entry.ts';
import { RECORD_LIMITS } from '../model/json.ts';
import { formatTimestamp } from '../model/time.ts';
import { createFileDurably, moveFileDurably, readRegularFile, removeFile } from '../platform/durable-file.ts';
import { ensurePrivateFolder, isFolder, listFolder, pathExists } from '../platform/folders.ts';
import { readKnownProjects } from '../platform/known-projects.ts';
import { withLock } from '../platform/lock.ts';
import { expandHome } from '../platform/paths.ts';
import { identifyProject } from '../platform/project.ts';
import { findTaskOf, noteLateSave } from './held-tasks.ts';
import { appendEntry, nextTimestamp, readEntriesOf } from './journal.ts';
import type { Store } from './store.ts';
import * as places from './store.ts';

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
    if (createHandoverFile(store, handover)) return noteFirst(store, journalSave(store, handover, 'saved'));
  }
  throw new HandoverError('HANDOVER_IO', 'no free handover id was found', { hint: 'Try again in a second.' });
}

/** Projects are noted when they are identified; that of the first handover was, before there was a place for it. */
function noteFirst({ machine }: Store, saved: SaveResult): SaveResult {
  const root = expandHome(saved.handover.workspace.root, machine);
  if (readKnownProjects(machine).length === 0 && isFolder(root)) identifyProject(root, machine);
  return saved;
}

/** Saves a handover that already has its id. Null when that id is taken; the store is then unchanged. */
export function saveMigratedHandover(store: Store, handover: Handover): SaveResult | null {
  return createHandoverFile(store, handover) ? journalSave(store, handover, 'migrated') : null;
}

export function createHandoverFile(store: Store, handover: Handover): boolean {
  ensurePrivateFolder(store.root, places.HANDOVERS, ...places.monthOf(handover.id));
  return createFileDurably(places.pathOfHandover(store, handover.id), formatHandover(handover), {
    takeTurns: (work) => withCreationLock(store, work),
  });
}

const LOCK_WAIT_MS = 2000;
export const CREATION_LOCK = 'create';

/** Serializes the creation of files where the file system has no hard links to do so. */
export function withCreationLock<T>(store: Store, work: () => T): T {
  const folder = ensurePrivateFolder(store.root, places.LOCKS);
  return withLock({ folder, name: CREATION_LOCK, waitMs: LOCK_WAIT_MS, clock: store.machine.clock }, work);
}

function journalSave(store: Store, handover: Handover, event: 'saved' | 'migrated'): SaveResult {
  const { id, checksum, created_at } = handover;
  const path = places.pathOfHandover(store, id);
  const at = event === 'saved' ? { at: created_at } : {};
  const held = event === 'saved' ? findTaskOf(store, handover.workspace.root) : null;
  const fence = held === null ? {} : { task: held.task, fence: held.fence };
  const append = (): null => {
    appendEntry(store, { ...at, event, subject: id, detail: { checksum, ...fence } });
    if (held !== null) noteLateSave(store, id, held);
    return null;
  };
  return { handover, path, journalFailure: rescue(isFailure, (error) => error, append) };
}

export function hasHandover(store: Store, id: string): boolean {
  return pathExists(places.pathOfHandover(store, id));
}

/** Reads and verifies one handover. Null when there is none with this id. */
export function readHandover(store: Store, id: string): Handover | null {
  return readHandoverFile(places.pathOfHandover(store, id), id);
}

function readHandoverFile(path: string, id: string): Handover | null {
  return catchErrno(['ENOENT', 'ENOTDIR'], null, () => openHandover(readRegularFile(path, MAX_FILE_BYTES), id, path));
}

/** Null also for a damaged one, which `doctor` reports. */
export function readIntact(store: Store, id: string): Handover | null {
  return readIntactFile(places.pathOfHandover(store, id), id);
}

function readIntactFile(path: string, id: string): Handover | null {
  return catchIf(isHandoverError, null, () => readHandoverFile(path, id));
}

const MAX_HISTORY = 100;

/** The handovers that one goes back to, the oldest first, without forgotten ones. A damaged one ends the chain. */
export function readHistory(store: Store, handover: Handover): Handover[] {
  const history: Handover[] = [];
  const seen = new Set([handover.id]);
  let forgotten: Map<string, string> | null = null;
  for (let id = handover.previous; id !== null && !seen.has(id) && history.length < MAX_HISTORY; ) {
    seen.add(id);
    const earlier = readIntact(store, id);
    if (earlier !== null) history.unshift(earlier);
    else forgotten ??= readForgotten(store);
    id = earlier === null ? (forgotten?.get(id) ?? null) : earlier.previous;
  }
  return history;
}

/** By the id of a forgotten handover, the one that it followed. */
function readForgotten(store: Store): Map<string, string> {
  const entries = readEntriesOf(store, ['forgotten']);
  return new Map(
    entries.flatMap(({ subject, detail }) => (isId(detail?.previous) ? [[subject, detail.previous] as const] : [])),
  );
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && isHandoverId(value);
}

/** Removes a handover for good. The rename out of its month commits; `finishForgetting` completes it after a kill. */
export function forgetHandover(store: Store, id: string, reason?: string): boolean {
  return removeHandover(store, id, { name: places.nameOfHandover(id), reason });
}

/** The same for one that is too old to be kept here. Other stores keep theirs. */
export function expireHandover(store: Store, id: string, reason: string): boolean {
  return removeHandover(store, id, { name: `${EXPIRED}${places.nameOfHandover(id)}`, reason });
}

/** The prefix for handovers that are removed from this store alone, not from others. */
const EXPIRED = 'expired-';

function removeHandover(
  store: Store,
  id: string,
  { name, reason }: { name: string; reason: string | undefined },
): boolean {
  if (!hasHandover(store, id)) return false;
  // Refuses a link in the path, through which the file of somebody else would be removed.
  ensurePrivateFolder(store.root, places.HANDOVERS, ...places.monthOf(id));
  const folder = ensurePrivateFolder(store.root, places.BEING_FORGOTTEN);
  const move = (): void => moveFileDurably(places.pathOfHandover(store, id), join(folder, name));
  if (!attempt(move, 'ENOENT', 'ENOTDIR')) return false;
  finishForgetting(store, reason === undefined ? undefined : new Map([[id, reason]]));
  return true;
}

/** Whether a removal was begun and not yet completed. */
export function isBeingForgotten(store: Store, id: string): boolean {
  const name = places.nameOfHandover(id);
  return [name, `${EXPIRED}${name}`].some((one) => pathExists(join(store.root, places.BEING_FORGOTTEN, one)));
}

/** The id of what is being forgotten under this name; null for any other file. */
export function idOfLeaving(name: string): string | null {
  return places.idOfName(name.startsWith(EXPIRED) ? name.slice(EXPIRED.length) : name);
}

/** Completes every removal that was begun: journal first, so that a missing file is never unexplained. */
export function finishForgetting(store: Store, reasons?: ReadonlyMap<string, string>): string[] {
  const folder = join(store.root, places.BEING_FORGOTTEN);
  return listFolder(folder).flatMap((name) => {
    const id = idOfLeaving(name);
    if (id === null) return [];
    const path = join(folder, name);
    const reason = reasons?.get(id);
    appendEntry(store, {
      event: 'forgotten',
      subject: id,
      ...describeForgotten(readIntactFile(path, id), name.startsWith(EXPIRED)),
      ...(reason === undefined ? {} : { reason }),
    });
    dropPreparedBrief(store, id);
    removeFile(path);
    return [id];
  });
}

/** The session named here is not captured again automatically unless it continues. A sync needs project and writer, a history what came before. */
function describeForgotten(handover: Handover | null, expired: boolean): Pick<JournalDraft, 'session' | 'detail'> {
  if (handover === null) return {};
  const { session, project, previous } = handover;
  const writer = findWriter(handover);
  const followed = previous === null ? {} : { previous };
  const detail = {
    project: project.id,
    ...followed,
    ...(writer === null ? {} : { writer }),
    ...(expired ? { expired } : {}),
  };
  if (session.id === null) return { detail };
  return { session: session.id, detail: { agent: session.agent, ...detail } };
}

const MAX_PREPARED_BYTES = 1024 * 1024;
const PREPARED_NAME = /^[0-9a-f]{16}\.json$/;

/** Removes the brief that was prepared of a handover, and what was found of it since, so that no hook tells what was forgotten. */
function dropPreparedBrief(store: Store, id: string): void {
  const note = join(store.root, ...places.BRIEFS_BY_HANDOVER, id);
  const name = readTextOrNothing(note);
  if (PREPARED_NAME.test(name)) {
    const path = join(store.root, ...places.PREPARED_BRIEFS, name);
    // The session may have gone on, and a later handover of it may have been prepared.
    if (readTextOrNothing(path).includes(`"handover":"${id}"`)) removeFile(path);
  }
  removeFile(note);
  const looks = join(store.root, ...places.SECOND_LOOKS);
  for (const look of listFolder(looks).map((one) => join(looks, one)))
    if (readTextOrNothing(look).includes(`"handover":"${id}"`)) removeFile(look);
}

function readTextOrNothing(path: string): string {
  return catchIf(isFailure, '', () => readRegularFile(path, MAX_PREPARED_BYTES).toString('utf8'));
}
