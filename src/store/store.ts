import { join } from 'node:path';
import { HandoverError } from '../errors.ts';
import { isHandoverId } from '../model/id.ts';
import { listFolder } from '../platform/folders.ts';
import { describeMachine, type Machine } from '../platform/machine.ts';
import { findDataFolder } from '../platform/paths.ts';

export { LOCKS } from '../platform/paths.ts';

/** The folder with all handovers, and the machine it is on. */
export type Store = { root: string; machine: Machine };

/* Folders below the root. What each holds: docs/architecture.md, "The store". */

export const HANDOVERS = 'handovers';
export const JOURNAL = 'journal';
export const QUARANTINE = 'quarantine';
export const BEING_FORGOTTEN = 'leaving';
export const PENDING_IMPORTS = 'arriving';
export const TRANSCRIPT_CHECKPOINTS = 'readings';
export const HOOK_STATE = 'ready';
/** Names the file with the prepared brief of a handover, by the handover's id. */
export const BRIEFS_BY_HANDOVER: readonly string[] = [HOOK_STATE, 'handovers'];
export const PREPARED_BRIEFS: readonly string[] = [HOOK_STATE, 'sessions'];
/** What was found of given briefs after the first prompt, for the next hook to tell. */
export const SECOND_LOOKS: readonly string[] = [HOOK_STATE, 'looks'];
export const SPOOL = 'spool';
export const LOG = 'log';
export const WORKER_LOCK_PREFIX = 'relay-';
export const HOOK_RECEIPTS = 'installs';
export const DOCUMENTS = 'documents';
export const PUBLISH_STATES = 'published';
export const SESSION_TEXTS = 'sessions';
export const REMOTES = 'remotes';

export function openStore(machine: Machine = describeMachine()): Store {
  return { root: findDataFolder(machine), machine };
}

/** Whether an import is under way, or was interrupted. */
export function hasPendingImports(store: Store): boolean {
  return listFolder(join(store.root, PENDING_IMPORTS)).length > 0;
}

/** A month's folder below `handovers`, as its two path parts. */
export type Month = readonly [year: string, month: string];

export function monthOf(id: string): Month {
  return [id.slice(0, 4), id.slice(4, 6)];
}

export function folderOfMonth(store: Store, month: Month): string {
  return join(store.root, HANDOVERS, ...month);
}

/** Built from a checked id only, so that no text from outside can lead out of the store. */
export function pathOfHandover(store: Store, id: string): string {
  if (!isHandoverId(id)) throw new HandoverError('HANDOVER_INPUT_INVALID', 'not a handover id');
  return join(folderOfMonth(store, monthOf(id)), nameOfHandover(id));
}

export function nameOfHandover(id: string): string {
  return `${id}.json`;
}

/** The id in the name of a handover's file; null for any other name. */
export function idOfName(name: string): string | null {
  const id = name.endsWith('.json') ? name.slice(0, -'.json'.length) : '';
  return isHandoverId(id) ? id : null;
}

/** Months that hold, or held, handovers; newest first. */
export function listMonths(store: Store): Month[] {
  const root = join(store.root, HANDOVERS);
  return listNewestFirst(root, /^\d{4}$/).flatMap((year) =>
    listNewestFirst(join(root, year), /^(?:0[1-9]|1[0-2])$/).map((month): Month => [year, month]),
  );
}

function listNewestFirst(folder: string, pattern: RegExp): string[] {
  const names = listFolder(folder).filter((name) => pattern.test(name));
  return names.sort().reverse();
}

/** The ids of a month's folder, newest first by name, without those that belong to another month. */
export function listIds(store: Store, month: Month): string[] {
  const prefix = month.join('');
  const ids = listFolder(folderOfMonth(store, month)).map((name) => idOfName(name) ?? '');
  const own = ids.filter((id) => id !== '' && id.startsWith(prefix));
  return own.sort().reverse();
}

/** The journal's files, oldest first. */
export function listJournalFiles(store: Store): string[] {
  const folder = join(store.root, JOURNAL);
  const names = listFolder(folder).filter((name) => /^\d{4}-\d{2}\.jsonl$/.test(name));
  return names.sort().map((name) => join(folder, name));
}

/* Where time and event stand in a line of the journal. */
export const TIME_AT: number = '{"schema":"journal/1","at":"'.length;
export const EVENT_AT: number = TIME_AT + '2026-01-31T12:00:00.000Z","event":"'.length;
export const MAX_JOURNAL_BYTES: number = 512 * 1024 * 1024;
