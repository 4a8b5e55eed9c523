import { join } from 'node:path';
import { HandoverError } from '../errors.ts';
import { cleanLine, countUtf8Bytes, cutToBytes } from '../model/text.ts';
import { pathExists } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { pathOfUserConfig } from '../platform/paths.ts';
import { PROJECT_SETTINGS } from '../platform/project-file.ts';

/** The three files of a workspace: who works here, what is known, where the last session stood. */
export const DOCUMENT_NAMES = ['SOUL.md', 'MEMORY.md', 'HANDOFF.md'] as const;
export type DocumentTitle = (typeof DOCUMENT_NAMES)[number];

export const MAX_DOCUMENT_BYTES: number = 4 * 1024 * 1024;

/** Where memory is, below a project, unless something else is declared. */
export const MEMORY_FOLDER = 'memory';

const PROJECT_FILES = [join(PROJECT_SETTINGS, 'handover.toml'), 'handover.toml'];

/** The files in a project that declare a run; the first one counts. */
export function listRunFiles(root: string): string[] {
  return PROJECT_FILES.map((file) => join(root, file)).filter(pathExists);
}

/** Whether there is anything that may say where things are; if not, settings need not even be loaded. */
export function hasRunSettings(machine: Machine, root: string): boolean {
  return listRunFiles(root).length > 0 || pathExists(pathOfUserConfig(machine));
}

/** 1: notes, by tag and day. 2: the current state. 3: archives of notes, by tag and month. */
export type Layer = 1 | 2 | 3;

export const DEFAULT_TAG = 'general';

const TAG = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}._-]*$/u;
const MAX_TAG_BYTES = 100;
const DATE = /^\d{4}-\d\d-\d\d$/;
const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

/** A tag as it stands in file names: a slash becomes a dash and a space an underscore; what else cannot be there is refused. */
export function parseTag(words: string): string {
  const tag = words.normalize('NFC').replaceAll('/', '-').replaceAll(' ', '_');
  if (TAG.test(tag) && countUtf8Bytes(tag) <= MAX_TAG_BYTES) return tag;
  throw invalidError(
    words,
    'a tag',
    `A tag begins with a letter or a digit, goes on with those and with . _ -, and is no longer than ${MAX_TAG_BYTES} bytes.`,
  );
}

export function parseDate(words: string): string {
  if (DATE.test(words) && isRealDay(words)) return words;
  throw invalidError(words, 'a date', 'A date is a real day, written as 2026-01-31.');
}

export function parseMonth(words: string): string {
  if (isMonth(words)) return words;
  throw invalidError(words, 'a month', 'A month is written as 2026-01.');
}

export function isMonth(words: string): boolean {
  return MONTH.test(words);
}

function isRealDay(date: string): boolean {
  const ms = Date.parse(`${date}T00:00:00.000Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}

function invalidError(words: string, what: string, hint: string): HandoverError {
  const shown = cutToBytes(cleanLine(words), 80);
  return new HandoverError('HANDOVER_INPUT_INVALID', `${JSON.stringify(shown)} is not ${what}`, { hint });
}

export function monthOfDate(date: string): string {
  return date.slice(0, 7);
}

/** A file of layer 1 or 3: where it is below the memory's root. */
export interface FilePlace {
  folder: readonly string[];
  name: string;
}

export function placeOfNotes(tag: string, date: string): FilePlace {
  return { folder: ['layer1', monthOfDate(date)], name: `${tag}-${date}.md` };
}

export function placeOfArchive(tag: string, month: string): FilePlace {
  return { folder: ['layer3'], name: `${month}-${tag}-archive.md` };
}

export const PLACE_OF_STATE: FilePlace = { folder: ['layer2'], name: 'current-state.md' };
export const PLACE_OF_PAST_STATES: readonly string[] = ['layer2', 'history'];

export function pathOf(root: string, { folder, name }: FilePlace): string {
  return join(root, ...folder, name);
}

const NOTES_NAME = /^(.+)-(\d{4}-\d\d-\d\d)\.md$/;
const ARCHIVE_NAME = /^(\d{4}-\d\d)-(.+)-archive\.md$/;

/** Null for a name that no file of layer 1 has. */
export function parseNotesName(name: string): { tag: string; date: string } | null {
  const [, tag = '', date = ''] = NOTES_NAME.exec(name) ?? [];
  return TAG.test(tag) && isRealDay(date) ? { tag, date } : null;
}

/** Null for a name that no file of layer 3 has. */
export function parseArchiveName(name: string): { tag: string; month: string } | null {
  const [, month = '', tag = ''] = ARCHIVE_NAME.exec(name) ?? [];
  return TAG.test(tag) && isMonth(month) ? { tag, month } : null;
}
