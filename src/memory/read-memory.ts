import { join } from 'node:path';
import { compareCodeUnits } from '../model/hash.ts';
import { readFileTail } from '../platform/durable-file.ts';
import { listFolder } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { isProjectFolder, readProjectFile } from '../platform/project-file.ts';
import * as layout from './layout.ts';
import { type Note, parseNoteFile } from './note-file.ts';

/** A folder of Markdown notes in three layers. */
export type Memory = { root: string; machine: Machine };

export const MAX_MEMORY_BYTES: number = 32 * 1024 * 1024;

export function readText(path: string, maxBytes: number = MAX_MEMORY_BYTES): string | null {
  return readProjectFile(path, maxBytes)?.toString('utf8') ?? null;
}

/** The date is a day, or in layer 3 a month. */
export type NotesFile = { path: string; tag: string; date: string };

type NoteInFile = Note & NotesFile;

export function readState(memory: Memory): Note | null {
  const [path] = listStates(memory);
  const content = path === undefined ? null : readText(path, layout.MAX_DOCUMENT_BYTES);
  return content === null ? null : (parseNoteFile(content).notes[0] ?? null);
}

/** The path of the state, which need not exist; none where a link leads to it. */
export function listStates({ root }: Memory): string[] {
  return isProjectFolder(root, ...layout.PLACE_OF_STATE.folder) ? [layout.pathOf(root, layout.PLACE_OF_STATE)] : [];
}

/** The names in a folder of the memory; none where a link leads to it: the project's authors could have planted it. */
function listNamesIn(root: string, ...folder: readonly string[]): string[] {
  return isProjectFolder(root, ...folder) ? listFolder(join(root, ...folder)) : [];
}

/**
 * The latest note of the latest day. Times come from the notes: file times change with every checkout. Reads the names
 * of one month and the ends of one day's files, however many notes there are.
 */
export function readLatestNote(memory: Memory, layer: 1 | 3, tagWords?: string): NoteInFile | null {
  const tag = tagWords === undefined ? null : layout.parseTag(tagWords);
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
  return listNamesIn(root, 'layer1').filter(layout.isMonth).sort(compareCodeUnits);
}

export function listNotesOfMonth({ root }: Memory, month: string): NotesFile[] {
  const folder = join(root, 'layer1', month);
  return listNamesIn(root, 'layer1', month).flatMap((name) => {
    const parsed = layout.parseNotesName(name);
    return parsed === null || !parsed.date.startsWith(month) ? [] : [{ path: join(folder, name), ...parsed }];
  });
}

export function listArchives({ root }: Memory): NotesFile[] {
  const folder = join(root, 'layer3');
  return listNamesIn(root, 'layer3').flatMap((name) => {
    const parsed = layout.parseArchiveName(name);
    return parsed === null ? [] : [{ path: join(folder, name), tag: parsed.tag, date: parsed.month }];
  });
}

const TAIL_BYTES = 64 * 1024;

/** Reads only the end of the file, unless its last note is longer. */
function readLastNote(file: NotesFile): NoteInFile[] {
  const tail = readFileTail(file.path, TAIL_BYTES).toString('utf8');
  const start = tail.lastIndexOf('\n<!-- agent-handover | note | ');
  const text = start < 0 ? (readText(file.path, layout.MAX_DOCUMENT_BYTES) ?? '') : tail.slice(start + 1);
  const note = parseNoteFile(text).notes.at(-1);
  return note === undefined ? [] : [{ ...note, ...file }];
}

export function countNotes(memory: Memory, month?: string): number {
  const months = month === undefined ? listNotesMonths(memory) : [month];
  return months
    .flatMap((each) => listNotesOfMonth(memory, each))
    .reduce((count, { path }) => count + parseNoteFile(readText(path) ?? '').notes.length, 0);
}
