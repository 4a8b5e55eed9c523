import { join } from 'node:path';
import { HandoverError } from '../errors.ts';
import { isHandoverId } from '../model/id.ts';
import { listFolder } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { findDataFolder } from '../platform/paths.ts';

/** Where handovers are kept, and the machine it is on. */
export interface Store {
  root: string;
  machine: Machine;
}

export const HANDOVERS = 'handovers';
export const JOURNAL = 'journal';
export const QUARANTINE = 'quarantine';
export const LEAVING = 'leaving';
export const ARRIVING = 'arriving';
export const LOCKS = 'locks';
export const READINGS = 'readings';
export const READY = 'ready';
export const SPOOL = 'spool';
export const LOG = 'log';
/** How the names of workers' locks begin. */
export const RELAY_LOCK = 'relay-';
export const INSTALLS = 'installs';
export const DOCUMENTS = 'documents';
export const PUBLISHED = 'published';
export const SESSION_TEXTS = 'sessions';

export function openStore(machine: Machine): Store {
  return { root: findDataFolder(machine), machine };
}

/** Whether a bundle is on its way in, from a command that is at work or was stopped. */
export function hasPendingImports(store: Store): boolean {
  return listFolder(join(store.root, ARRIVING)).length > 0;
}

/** A month's folder below `handovers`, as its two path parts. */
export type Month = readonly [year: string, month: string];

export function monthOf(id: string): Month {
  return [id.slice(0, 4), id.slice(4, 6)];
}

export function folderOfMonth(store: Store, month: Month): string {
  return join(store.root, HANDOVERS, ...month);
}

/** The path is built from a checked id alone, so that no text from outside can lead out of the store. */
export function pathOfHandover(store: Store, id: string): string {
  if (!isHandoverId(id)) throw new HandoverError('HANDOVER_INPUT_INVALID', 'not a handover id');
  return join(folderOfMonth(store, monthOf(id)), nameOfHandover(id));
}

export function nameOfHandover(id: string): string {
  return `${id}.json`;
}

/** The id that a file name stands for, or null when it is not a handover's name. */
export function idOfName(name: string): string | null {
  const id = name.endsWith('.json') ? name.slice(0, -'.json'.length) : '';
  return isHandoverId(id) ? id : null;
}

const YEAR = /^\d{4}$/;
const MONTH = /^(?:0[1-9]|1[0-2])$/;

/** Months that hold, or held, handovers; newest first. */
export function listMonths(store: Store): Month[] {
  const root = join(store.root, HANDOVERS);
  const years = listFolder(root).filter((name) => YEAR.test(name));
  return years
    .sort()
    .reverse()
    .flatMap((year) => listMonthsOfYear(root, year));
}

function listMonthsOfYear(root: string, year: string): Month[] {
  return listFolder(join(root, year))
    .filter((name) => MONTH.test(name))
    .sort()
    .reverse()
    .map((month): Month => [year, month]);
}

/** The ids that a month's folder holds, newest first by name. Ids that belong to another month are not its. */
export function listIds(store: Store, month: Month): string[] {
  const prefix = month.join('');
  const ids: string[] = [];
  for (const name of listFolder(folderOfMonth(store, month))) {
    const id = idOfName(name);
    if (id?.startsWith(prefix)) ids.push(id);
  }
  return ids.sort().reverse();
}

const JOURNAL_NAME = /^\d{4}-\d{2}\.jsonl$/;

/** The journal's files, oldest first. */
export function listJournalFiles(store: Store): string[] {
  const folder = join(store.root, JOURNAL);
  return listFolder(folder)
    .filter((name) => JOURNAL_NAME.test(name))
    .sort()
    .map((name) => join(folder, name));
}
