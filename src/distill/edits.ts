import type { FileEdit } from '../model/event.ts';
import { type NameWindow, queueForIndex } from './name-index.ts';
import { findDefinitions } from './names.ts';
import { TouchedFile } from './touched-files.ts';

/** What a session log keeps of files that were read and edited. */
interface EditLog {
  calls: number;
  files: Map<string, TouchedFile>;
  documents: Map<string, { call: number; line: number; text: string }>;
  windows: NameWindow[];
}

export function logRead(log: EditLog, path: string, line: number): void {
  const file = touchFile(log, path, line);
  file.reads++;
  file.lastRead = log.calls;
  queueForIndex(log.windows, { kind: 'file', path, place: { source: 'opened', call: log.calls } });
}

export function logEdit(log: EditLog, edit: FileEdit, line: number): void {
  const file = touchFile(log, edit.path, line);
  countEdit(log, file);
  file.line = line;
  if (edit.change === 'created' && file.reads === 0 && file.edits === 1) file.created = true;
  file.deleted = edit.change === 'deleted' || edit.change === 'moved';
  if (!DOCUMENT.test(edit.path)) noteDefinitions(file, edit, log.calls);
  noteDocument(log, edit, line);
  if (edit.to !== undefined) countEdit(log, touchFile(log, edit.to, line));
  queueForIndex(log.windows, { kind: 'edit', edit, call: log.calls });
}

const DOCUMENT = /\.(?:mdx?|rst|txt|adoc)$/i;
const SHORTEST_DOCUMENT = 400;
const MAX_DOCUMENT = 12_000;
const MAX_DOCUMENTS = 4;

function noteDocument({ documents, calls: call }: EditLog, edit: FileEdit, line: number): void {
  const { path, before, after, change } = edit;
  if (!DOCUMENT.test(path) || change === 'deleted') return;
  const known = documents.get(path);
  const isWhole = before === '' || change === 'created' || known?.text === before.slice(0, MAX_DOCUMENT);
  const isPart = !isWhole && known?.text.includes(before) === true;
  if (!isWhole && !isPart) return;
  const text = isPart ? known.text.replace(before, () => after) : after;
  documents.delete(path);
  if (text.length >= SHORTEST_DOCUMENT) documents.set(path, { call, line, text: text.slice(0, MAX_DOCUMENT) });
  for (const oldest of documents.keys()) if (documents.size > MAX_DOCUMENTS) documents.delete(oldest);
}

/** The names that edits declare in a file and none has taken out since. */
function noteDefinitions({ defined }: TouchedFile, { before, after }: FileEdit, call: number): void {
  const old = new Set(findDefinitions(before));
  const now = new Set(findDefinitions(after));
  for (const name of old) if (!now.has(name)) defined.delete(name);
  for (const name of now) if (!old.has(name)) defined.set(name, call);
}

/** All changes that one call makes to a file are one edit. */
function countEdit({ calls }: EditLog, file: TouchedFile): void {
  if (file.lastEdit !== calls) {
    file.edits++;
    file.editCalls.push(calls);
  }
  file.lastEdit = calls;
}

function touchFile({ files }: EditLog, path: string, line: number): TouchedFile {
  const file = files.get(path) ?? new TouchedFile(path, line);
  files.set(path, file);
  return file;
}

const IMPORT = /^\s*(?:import|from|use|using|#include|package|require)\b/;

/** The lines that edits bring in, without imports and blank lines. */
export function listAdded(edits: readonly FileEdit[]): string {
  return edits
    .flatMap(({ before, after }) => {
      const old = new Set(before.split('\n'));
      return after.split('\n').filter((line) => line.trim() !== '' && !old.has(line) && !IMPORT.test(line));
    })
    .join('\n');
}

/** Takes back what a call that failed, or was refused, would have done. */
export function undoEdits({ files, documents }: EditLog, edits: readonly FileEdit[], call: number): void {
  for (const path of new Set(edits.flatMap((edit) => [edit.path, edit.to ?? edit.path]))) {
    if (documents.get(path)?.call === call) documents.delete(path);
    const file = files.get(path);
    if (file === undefined) continue;
    file.edits--;
    file.editCalls.pop();
    file.lastEdit = file.editCalls.at(-1) ?? 0;
    file.failures++;
    file.created &&= file.edits > 0;
    file.deleted = false;
  }
}
