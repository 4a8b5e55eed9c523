import type { Action, FileEdit } from '../../model/event.ts';
import type { ToolCall } from './actions.ts';
import { resolveFilePath, type TouchedFiles } from './files.ts';
import { getCleanText, getNumber, getText, type Row, toRows } from './json.ts';

/* MCP servers for files name their tools alike; agents put the server's name before that of the tool, each in its own way. */

const READS = 'read_file read_text_file read_media_file view_file';
const WRITES = 'write_file write_text_file create_file create_text_file save_file append_file';
const EDITS =
  'edit_file edit_text_file str_replace str_replace_editor text_editor replace_in_file edit_block insert insert_text insert_line';
const MOVES = 'move_file rename_file';
const DELETES = 'delete_file remove_file';

const toPattern = (names: string): RegExp => new RegExp(`(?:^|[_.:/-])(?:${names.replaceAll(' ', '|')})$`);
const [READ, WRITE, EDIT, MOVE, DELETE] = [READS, WRITES, EDITS, MOVES, DELETES].map(toPattern);

/** Files of such a server are not on this machine. */
const ELSEWHERE = ['owner', 'repo', 'repository', 'project_id', 'bucket', 'url', 'branch'];

/** What a call of a file server's tool does, whatever the tool is called; null for other tools. */
export function describeMcpFileCall({ tool, input, cwd }: ToolCall, files: TouchedFiles): Action | null {
  if (ELSEWHERE.some((name) => name in input) || input.dryRun === true || input.dry_run === true) return null;
  if (MOVE?.test(tool)) return describeMove(input, cwd);
  const given = getText(input, 'path', 'file_path', 'filePath', 'relative_path', 'pathInProject', 'filename');
  if (given === null || given === '') return null;
  const path = resolveFilePath(given, cwd);
  if (READ?.test(tool)) return files.read(path);
  if (WRITE?.test(tool)) return toEdits([files.write(path, readText(input))]);
  if (DELETE?.test(tool)) return toEdits([{ path, change: 'deleted', before: '', after: '' }]);
  return EDIT?.test(tool) ? describeEdit(tool, { path, input }, files) : null;
}

function toEdits(edits: FileEdit[]): Action {
  return { kind: 'edit', edits };
}

function readText(input: Row): string {
  return getCleanText(input, 'content', 'text', 'file_text', 'fileText', 'contents');
}

function describeMove(input: Row, cwd: string | null): Action | null {
  const from = getText(input, 'source', 'from', 'old_path', 'source_path', 'path');
  const to = getText(input, 'destination', 'to', 'new_path', 'destination_path');
  if (from === null || to === null) return null;
  const path = resolveFilePath(from, cwd);
  return toEdits([{ path, change: 'moved', before: '', after: '', to: resolveFilePath(to, cwd) }]);
}

const BEFORE = ['oldText', 'old_text', 'old_string', 'old_str', 'search'] as const;
const AFTER = ['newText', 'new_text', 'new_string', 'new_str', 'insert_text', 'replace', 'text', 'code_edit'] as const;

function describeEdit(tool: string, { path, input }: { path: string; input: Row }, files: TouchedFiles): Action | null {
  const command = getText(input, 'command');
  if (command === 'view') return files.read(path);
  if (command === 'create' || command === 'write') return toEdits([files.write(path, readText(input))]);
  const listed = toRows(input.edits);
  const changes = (listed.length === 0 ? [input] : listed).filter((edit) => {
    return [...BEFORE, ...AFTER, 'diff'].some((name) => typeof edit[name] === 'string');
  });
  // The word alone says little: other servers insert other things.
  const isInsertion = /insert(?:_text|_line)?$/.test(tool);
  const hasLine = ['insert_line', 'line', 'line_number', 'lineNumber'].some((name) => getNumber(input, name) !== null);
  if (changes.length === 0 || (isInsertion && !hasLine)) return null;
  return toEdits(changes.map((edit) => files.edit(path, getCleanText(edit, ...BEFORE), getCleanText(edit, ...AFTER))));
}
