import { join } from 'node:path';
import { HandoverError } from '../errors.ts';
import { DOCUMENT_NAMES, MAX_DOCUMENT_BYTES, PLACE_OF_STATE, pathOf } from '../memory/layout.ts';
import { splitBlocks } from '../memory/note-blocks.ts';
import { parseNoteFile } from '../memory/note-file.ts';
import {
  listArchives,
  listNotesMonths,
  listNotesOfMonth,
  MAX_MEMORY_BYTES,
  type Memory,
} from '../memory/read-memory.ts';
import { cleanText } from '../model/text.ts';
import { formatTimestamp } from '../model/time.ts';
import { describeFileState } from '../platform/durable-file.ts';
import { readProjectFile } from '../platform/project-file.ts';

/** Where the notes of a project are: its top folder, and the folder of its memory. */
export interface NotesPlace {
  folder: string;
  memoryDir: string;
}

/** A file with notes, and how it was seen. */
export interface NotesFile {
  path: string;
  state: string;
  maxBytes: number;
}

/** SOUL, MEMORY and HANDOFF of a project and the three layers of its memory, as far as they are there. */
export function listNotesFiles({ folder, memoryDir }: NotesPlace, machine: Memory['machine']): NotesFile[] {
  const memory = { root: memoryDir, machine };
  const documents = DOCUMENT_NAMES.map((name) => ({
    path: join(folder, name),
    maxBytes: MAX_DOCUMENT_BYTES,
  }));
  const layers = [
    pathOf(memoryDir, PLACE_OF_STATE),
    ...listNotesMonths(memory).flatMap((month) => listNotesOfMonth(memory, month).map(({ path }) => path)),
    ...listArchives(memory).map(({ path }) => path),
  ].map((path) => ({ path, maxBytes: MAX_MEMORY_BYTES }));
  return [...documents, ...layers].flatMap((file) => {
    const state = describeFileState(file.path);
    return state === null ? [] : [{ ...file, state }];
  });
}

/** When it was last changed. */
export function timeOfNotes({ state }: NotesFile): string {
  const ns = state.split(':').at(-1) ?? '0';
  return formatTimestamp(Number(BigInt(ns) / 1_000_000n));
}

/** A piece of a note that stands for itself. */
export interface NotePiece {
  text: string;
  /** Counted from one. */
  line: number;
}

/** The pieces of a file; none when it cannot be read. */
export function readPieces({ path, maxBytes }: NotesFile): NotePiece[] {
  const content = readOrNothing(path, maxBytes);
  const lines = content.split('\n');
  const pieces: NotePiece[] = [];
  let line = 0;
  for (const note of parseNoteFile(content).notes)
    for (const block of splitBlocks(note.text)) {
      const [first = ''] = block.lines;
      const at = lines.indexOf(first, line);
      line = at < 0 ? line : at + 1;
      const text = cleanText(block.lines.join('\n')).trim();
      if (/[\p{L}\p{N}]/u.test(text) && !/^<!--.*-->$/.test(text)) pieces.push({ text, line });
    }
  return pieces;
}

function readOrNothing(path: string, maxBytes: number): string {
  try {
    return readProjectFile(path, maxBytes)?.toString('utf8') ?? '';
  } catch (error) {
    if (error instanceof HandoverError) return '';
    throw error;
  }
}
