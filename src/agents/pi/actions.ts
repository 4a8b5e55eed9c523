import type { Action, FileEdit } from '../../model/event.ts';
import { collectTexts, getRows, getText, type Row } from '../json.ts';
import { resolveFilePath, type TouchedFiles } from '../touched-files.ts';

export interface ToolUse {
  tool: string;
  input: Row;
  cwd: string | null;
}

/** What one of pi's own tools does. Those of extensions can be anything. */
export function readAction(use: ToolUse, files: TouchedFiles): Action {
  const { tool, input, cwd } = use;
  const path = getText(input, 'path');
  const place = path === null ? null : resolveFilePath(path, cwd);
  switch (tool) {
    case 'bash':
    case 'powershell':
      return { kind: 'command', command: textOf(input, 'command'), background: false };
    case 'read':
      if (place !== null) files.meet(place);
      return { kind: 'read', path: place ?? '' };
    case 'write':
      return { kind: 'edit', edits: [files.write(place ?? '', textOf(input, 'content'))] };
    case 'edit':
      return { kind: 'edit', edits: readEdits(input, place ?? '', files) };
    case 'grep':
    case 'find':
      return { kind: 'search', pattern: textOf(input, 'pattern'), path: place };
    case 'ls':
      return { kind: 'search', pattern: '', path: place };
    default:
      return { kind: 'other', texts: collectTexts(input) };
  }
}

/** One replacement in older releases, a list of them in newer ones. */
function readEdits(input: Row, path: string, files: TouchedFiles): FileEdit[] {
  const listed = getRows(input, 'edits');
  const edits = listed.length === 0 ? [input] : listed;
  return edits.map((edit) => files.edit(path, textOf(edit, 'oldText'), textOf(edit, 'newText')));
}

function textOf(row: Row, key: string): string {
  return (getText(row, key) ?? '').toWellFormed();
}
