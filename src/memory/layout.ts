import { join } from 'node:path';
import { HandoverError, usageError } from '../errors.ts';
import { countUtf8Bytes, makeLater, quoteInput } from '../model/text.ts';
import { pathExists } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { pathOfUserConfig } from '../platform/paths.ts';
import { PROJECT_SETTINGS } from '../platform/project-folder.ts';

/** Identity, knowledge and last session of a project, in its root folder. */
export const DOCUMENT_NAMES = ['SOUL.md', 'MEMORY.md', 'HANDOFF.md'] as const;
export type DocumentTitle = (typeof DOCUMENT_NAMES)[number];

export const MAX_DOCUMENT_BYTES: number = 4 * 1024 * 1024;

/** The default folder of memory, relative to the project. */
export const MEMORY_FOLDER = 'memory';

/** The files in a project that declare a run; the first one counts. */
export function listRunFiles(root: string): string[] {
  return [join(root, PROJECT_SETTINGS, 'handover.toml'), join(root, 'handover.toml')].filter(pathExists);
}

/** Cheap: lets callers skip loading the settings where there are none. */
export function hasRunSettings(machine: Machine, root: string): boolean {
  return listRunFiles(root).length > 0 || pathExists(pathOfUserConfig(machine));
}

/** 1: notes, by tag and day. 2: the current state. 3: archives of notes, by tag and month. */
export type Layer = 1 | 2 | 3;

export const DEFAULT_TAG = 'general';

const getTag = makeLater(() => /^[\p{L}\p{N}][\p{L}\p{N}\p{M}._-]*$/u);
const MAX_TAG_BYTES = 100;
const DATE = /^\d{4}-\d\d-\d\d$/;
const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

/** A tag as file names have it: a slash becomes a dash, a space an underscore. */
export function parseTag(words: string): string {
  const tag = words.normalize('NFC').replaceAll('/', '-').replaceAll(' ', '_');
  if (getTag().test(tag) && countUtf8Bytes(tag) <= MAX_TAG_BYTES) return tag;
  const hint = `A tag starts with a letter or digit, has only those and . _ -, and at most ${MAX_TAG_BYTES} bytes.`;
  throw invalidError(words, 'a tag', hint);
}

export function parseDate(words: string): string {
  if (isDate(words)) return words;
  throw invalidError(words, 'a date', 'A date is a real day, written as 2026-01-31.');
}

export function parseMonth(words: string): string {
  if (isMonth(words)) return words;
  throw usageError(`${quoteInput(words)} is not a month`, 'A month is written as 2026-01.');
}

export function isMonth(words: string): boolean {
  return MONTH.test(words);
}

function isDate(date: string): boolean {
  if (!DATE.test(date)) return false;
  const ms = Date.parse(`${date}T00:00:00.000Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}

/** The folders of a memory, which none else has. */
export const LAYERS: readonly string[] = ['layer1', 'layer2', 'layer3'];

/** A file of memory, relative to its root. */
export type FilePlace = { folder: readonly string[]; name: string };

export function placeOfNotes(tag: string, date: string): FilePlace {
  return { folder: ['layer1', date.slice(0, 7)], name: `${tag}-${date}.md` };
}

export function placeOfArchive(tag: string, month: string): FilePlace {
  return { folder: ['layer3'], name: `${month}-${tag}-archive.md` };
}

export const PLACE_OF_STATE: FilePlace = { folder: ['layer2'], name: 'current-state.md' };
export const PLACE_OF_PAST_STATES: readonly string[] = ['layer2', 'history'];

export function pathOf(root: string, { folder, name }: FilePlace): string {
  return join(root, ...folder, name);
}

/** Null for a name that no file of layer 1 has. */
export function parseNotesName(name: string): { tag: string; date: string } | null {
  const [, tag = '', date = ''] = /^(.+)-(\d{4}-\d\d-\d\d)\.md$/.exec(name) ?? [];
  return getTag().test(tag) && isDate(date) ? { tag, date } : null;
}

/** Null for a name that no file of layer 3 has. */
export function parseArchiveName(name: string): { tag: string; month: string } | null {
  const [, month = '', tag = ''] = /^(\d{4}-\d\d)-(.+)-archive\.md$/.exec(name) ?? [];
  return getTag().test(tag) && isMonth(month) ? { tag, month } : null;
}

function invalidError(words: string, what: string, hint: string): HandoverError {
  return new HandoverError('HANDOVER_INPUT_INVALID', `${quoteInput(words)} is not ${what}`, { hint });
}
