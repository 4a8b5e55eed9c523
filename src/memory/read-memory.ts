import { join } from 'node:path';
import { compareCodeUnits } from '../model/hash.ts';
import { readFileTail } from '../platform/durable-file.ts';
import { listFolder } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { readProjectFile } from '../platform/project-file.ts';
import { isMonth, PLACE_OF_STATE, parseArchiveName, parseNotesName, parseTag, pathOf } from './layout.ts';
import { type Note, parseNoteFile } from './note-file.ts';

/** A folder of Markdown notes in three layers. */
export type Memory = { root: string; machine: Machine };

export const MAX_MEMORY_BYTES: number = 32 * 1024 * 1024;

export function readText(path: string): string | null {
  return readProjectFile(path, MAX_MEMORY_BYTES)?.toString('utf8') ?? null;
}

/** The date is a day, or in layer 3 a month. */
export type NotesFile = { path: string; tag: string; date: string };

type NoteInFile = Note & NotesFile;

export function readState({ root }: Memory): Note | null {
  const content = readText(pathOf(root, PLACE_OF_STATE));
  return content === null ? null : (parseNoteFile(content).notes[0] ?? null);
}

/**
 * The latest note of the latest day. Times come from the notes: file times change with every checkout. Reads the names
 * of one month and the ends of one day's files, however many notes there are.
 */
export function readLatestNote(memory: Memory, layer: 1 | 3, tagWords?: string): NoteInFile | null {
  const tag = tagWords === undefined ? null : parseTag(tagWords);
  const months = layer === 1 ? listNotesMonths(memory).reverse() : [null];
  for (const month of months) {
    const files = month === null ? listArchives(memory) : listNotesOfMonth(memory, month);
    const own = files.filter((file) => tag === null || file.tag === tag);
    const dates = own.map(({ date }) => date).sort(compareCodeUnits);
    const [latest] = own
      .filter(({ date }) => date === dates.at(-1))
      .flatMap(readLastNote)
      .sort((a, b) => compareCodeUnits(b.at ?? '', a.at ?? '') || compareCodeUnits(a.tag, b.tag));
    if (latest !== undefined) return latest;
  }
  return null;
}

/** Months with a folder in layer 1, oldest first. */
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

/** Reads only the end of the file, back to the start of its last note. */
function readLastNote(file: NotesFile): NoteInFile[] {
  for (let length = FIRST_TAIL; ; length *= 4) {
    const bytes = readFileTail(file.path, length);
    const text = bytes.toString('utf8');
    const start = text.lastIndexOf('\n<!-- agent-handover | note | ');
    const isWhole = bytes.length < length;
    if (start < 0 && !isWhole) continue;
    const note = parseNoteFile(isWhole ? text : text.slice(start + 1)).notes.at(-1);
    return note === undefined ? [] : [{ ...note, ...file }];
  }
}

export function countNotes(memory: Memory, month?: string): number {
  const months = month === undefined ? listNotesMonths(memory) : [month];
  return months
    .flatMap((each) => listNotesOfMonth(memory, each))
    .reduce((count, { path }) => count + parseNoteFile(readText(path) ?? '').notes.length, 0);
}
