import type { Action } from '../../model/event.ts';
import { collectTexts, getAnyText, getText, type Row } from '../json.ts';
import { resolveFilePath, type TouchedFiles } from '../touched-files.ts';

export interface ToolUse {
  /** Without the name of the extension before it. */
  tool: string;
  input: Row;
  cwd: string | null;
}

/** Goose puts the extension's name before that of its tool, unless the extension is built in. */
export function dropExtension(name: string): string {
  const end = name.lastIndexOf('__');
  return end === -1 ? name : name.slice(end + 2);
}

export function readAction(use: ToolUse, files: TouchedFiles): Action {
  const { tool, input, cwd } = use;
  switch (tool) {
    case 'shell':
      return { kind: 'command', command: textOf(input, 'command'), background: false };
    case 'text_editor':
    case 'str_replace_editor':
      return readEditor(use, files);
    case 'read':
    case 'read_file':
    case 'view':
      return readFile(use, files);
    case 'write':
    case 'edit':
      return { kind: 'edit', edits: [readChange(use, files)] };
    case 'tree':
    case 'list_files':
      return { kind: 'search', pattern: '', path: placeOf(input, cwd) };
    case 'glob':
    case 'search':
    case 'ripgrep':
      return {
        kind: 'search',
        pattern: getAnyText(input, 'pattern', 'query') ?? '',
        path: placeOf(input, cwd),
      };
    case 'web_fetch':
    case 'web_scrape':
    case 'fetch':
      return { kind: 'fetch', url: textOf(input, 'url') };
    case 'delegate':
    case 'subagent':
      return { kind: 'delegate', task: getAnyText(input, 'instructions', 'task', 'prompt') ?? '' };
    default:
      return { kind: 'other', texts: collectTexts(input) };
  }
}

/** One tool for all that can be done to a file, in releases up to 1.2x. */
function readEditor(use: ToolUse, files: TouchedFiles): Action {
  const { input, cwd } = use;
  const path = placeOf(input, cwd) ?? '';
  switch (getText(input, 'command')) {
    case 'view':
      return readFile(use, files);
    case 'write':
    case 'create':
      return { kind: 'edit', edits: [files.write(path, textOf(input, 'file_text'))] };
    case 'str_replace':
    case 'edit_file':
    case 'insert':
      return {
        kind: 'edit',
        edits: [
          files.edit(
            path,
            textOf(input, 'old_str'),
            getAnyText(input, 'new_str', 'code_edit', 'diff')?.toWellFormed() ?? '',
          ),
        ],
      };
    default:
      return { kind: 'other', texts: collectTexts(input) };
  }
}

function readFile({ input, cwd }: ToolUse, files: TouchedFiles): Action {
  const path = placeOf(input, cwd) ?? '';
  files.meet(path);
  return { kind: 'read', path };
}

function readChange({ tool, input, cwd }: ToolUse, files: TouchedFiles): ReturnType<TouchedFiles['write']> {
  const path = placeOf(input, cwd) ?? '';
  if (tool === 'write') return files.write(path, textOf(input, 'content'));
  return files.edit(path, textOf(input, 'before'), textOf(input, 'after'));
}

function textOf(row: Row, key: string): string {
  return (getText(row, key) ?? '').toWellFormed();
}

function placeOf(input: Row, cwd: string | null): string | null {
  const path = getAnyText(input, 'path', 'file_path');
  return path === null ? null : resolveFilePath(path, cwd);
}
