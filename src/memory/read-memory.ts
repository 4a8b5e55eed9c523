import { join } from 'node:path';
import { compareCodeUnits } from '../model/hash.ts';
import { readFileTail } from '../platform/durable-file.ts';
import { listFolder } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { readProjectFile } from '../platform/project-file.ts';
import { isMonth, PLACE_OF_STATE, parseArchiveName, parseNotesName, parseTag, pathOf } from './layout.ts';
import { type Note, parseNoteFile } from './note-file.ts';

/** A folder of notes in three layers, plain Markdown that people, agents and git read and write as well. */
export interface Memory {
  root: string;
  machine: Machine;
}

/** No file of a memory is nearly as large; a larger one is not ours to load. */
export const MAX_MEMORY_BYTES: number = 32 * 1024 * 1024;

/** Null when there is no such file. */
export function readText(path: string): string | null {
  return readProjectFile(path, MAX_MEMORY_BYTES)?.toString('utf8') ?? null;
}

/** A note, and the file that it is in. */
export interface NoteInFile extends Note {
  path: string;
  tag: string;
  /** The day, or in layer 3 the month. */
  date: string;
}

export interface NotesFile {
  path: string;
  tag: string;
  date: string;
}

/** The text of the current state; null when there is none. */
export function readState({ root }: Memory): Note | null {
  const content = readText(pathOf(root, PLACE_OF_STATE));
  return content === null ? null : (parseNoteFile(content).notes[0] ?? null);
}

/**
 * The note of the latest day, and on that day the one that was written last, by what the notes say of themselves: file
 * times mean nothing, as a checkout rewrites them. Costs the names of one month and the ends of the files of one day,
 * however many notes there are.
 */
export function readLatestNote(memory: Memory, layer: 1 | 3, tagWords?: string): NoteInFile | null {
  const tag = tagWords === undefined ? null : parseTag(tagWords);
  for (const files of layer === 1 ? listNotesByMonth(memory) : [listArchives(memory)]) {
    const own = files.filter((file) => tag === null || file.tag === tag);
    const newest = own
      .map(({ date }) => date)
      .sort(compareCodeUnits)
      .at(-1);
    const candidates = own
      .filter(({ date }) => date === newest)
      .flatMap((file) => readLastNote(file))
      .sort((a, b) => compareCodeUnits(b.at ?? '', a.at ?? '') || compareCodeUnits(a.tag, b.tag));
    if (candidates[0] !== undefined) return candidates[0];
  }
  return null;
}

/** Newest month first; within a month, in no order. */
function* listNotesByMonth(memory: Memory): Generator<NotesFile[]> {
  for (const month of listNotesMonths(memory).reverse()) yield listNotesOfMonth(memory, month);
}

/** Months that have a folder in layer 1, oldest first. */
export function listNotesMonths({ root }: Memory): string[] {
  return listFolder(join(root, 'layer1')).filter(isMonth).sort(compareCodeUnits);
}

export function listNotesOfMonth({ root }: Memory, month: string): NotesFile[] {
  const folder = join(root, 'layer1', month);
  return listFolder(folder).flatMap((name) => {
    const parsed = parseNotesName(name);
    return parsed === null || !parsed.date.startsWith(month) ? [] : [{ path: join(folder, name), ...parsed }];
  });
}

export function listArchives({ root }: Memory): NotesFile[] {
  const folder = join(root, 'layer3');
  return listFolder(folder).flatMap((name) => {
    const parsed = parseArchiveName(name);
    return parsed === null ? [] : [{ path: join(folder, name), tag: parsed.tag, date: parsed.month }];
  });
}

const FIRST_TAIL = 64 * 1024;
const ANY_MARK = '<!-- agent-handover | note | ';

/** Only the end of the file is read, as far back as its last note begins. */
function readLastNote(file: NotesFile): NoteInFile[] {
  for (let length = FIRST_TAIL; ; length *= 4) {
    const bytes = readFileTail(file.path, length);
    const text = bytes.toString('utf8');
    const start = text.lastIndexOf(`\n${ANY_MARK}`);
    const isWhole = bytes.length < length;
    if (start < 0 && !isWhole) continue;
    const note = parseNoteFile(isWhole ? text : text.slice(start + 1)).notes.at(-1);
    return note === undefined ? [] : [{ ...note, ...file }];
  }
}

/** All notes of layer 1, or those of one month. */
export function countNotes(memory: Memory, month?: string): number {
  const months = month === undefined ? listNotesMonths(memory) : [month];
  return months
    .flatMap((each) => listNotesOfMonth(memory, each))
    .reduce((count, { path }) => count + parseNoteFile(readText(path) ?? '').notes.length, 0);
}
