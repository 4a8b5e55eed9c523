import { join } from 'node:path';
import { catchIf, isHandoverError } from '../errors.ts';
import { DOCUMENT_NAMES, MAX_DOCUMENT_BYTES } from '../memory/layout.ts';
import { splitBlocks } from '../memory/note-blocks.ts';
import { parseNoteFile } from '../memory/note-file.ts';
import {
  listArchives,
  listNotesMonths,
  listNotesOfMonth,
  listStates,
  MAX_MEMORY_BYTES,
  type Memory,
} from '../memory/read-memory.ts';
import { cleanText } from '../model/text.ts';
import { formatTimestamp } from '../model/time.ts';
import { describeFileState } from '../platform/durable-file.ts';
import { readProjectFile } from '../platform/project-file.ts';
import type { Redactor } from '../redact/redactor.ts';
import { makeTag } from './tokens.ts';

/** The root folder of a project, and the folder of its memory. */
export type NotesPlace = { folder: string; memoryDir: string };

/** A file with notes, and its state (size and time) when it was listed. */
export type NotesFile = { path: string; state: string; maxBytes: number };

/** The existing files among SOUL, MEMORY and HANDOFF of a project and the three layers of its memory. */
export function listNotesFiles({ folder, memoryDir }: NotesPlace, machine: Memory['machine']): NotesFile[] {
  const memory = { root: memoryDir, machine };
  const documents = DOCUMENT_NAMES.map((name) => ({ path: join(folder, name), maxBytes: MAX_DOCUMENT_BYTES }));
  const layers = [
    ...listStates(memory),
    ...listNotesMonths(memory).flatMap((month) => listNotesOfMonth(memory, month).map(({ path }) => path)),
    ...listArchives(memory).map(({ path }) => path),
  ].map((path) => ({ path, maxBytes: MAX_MEMORY_BYTES }));
  return [...documents, ...layers].flatMap((file) => {
    const state = describeFileState(file.path);
    return state === null ? [] : [{ ...file, state }];
  });
}

export function timeOfNotes({ state }: NotesFile): string {
  return formatTimestamp(Number(BigInt(state.split(':').at(-1) ?? '0') / 1_000_000n));
}

/** More than anybody writes into one file, and indexed in a second or two. */
const MAX_PIECES = 20_000;

/**
 * The blocks of a file without secrets, the last of too many, with their lines, from 1; none when it cannot be read. Secrets go
 * before it is split: one may be known only by what stands in the block before it.
 */
export function readPieces({ path, maxBytes }: NotesFile, redactor: Redactor): { text: string; line: number }[] {
  const content = catchIf(isHandoverError, null, () => readProjectFile(path, maxBytes))?.toString('utf8') ?? '';
  const lines = content.split('\n');
  const pieces: { text: string; line: number }[] = [];
  let line = 0;
  for (const note of parseNoteFile(redactor.redactText(cleanText(content))).notes)
    for (const block of splitBlocks(note.text)) {
      const [first = ''] = block.lines;
      const at = lines.indexOf(first, line);
      line = at < 0 ? line : at + 1;
      const text = block.lines.join('\n').trim();
      if (/[\p{L}\p{N}]/u.test(text) && !/^<!--.*-->$/.test(text)) pieces.push({ text, line });
    }
  return pieces.slice(-MAX_PIECES);
}

export function tagOfNotes(folder: string): string {
  return makeTag('f', folder);
}
