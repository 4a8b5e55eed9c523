import type { Action } from '../../model/event.ts';
import type { ToolCall } from '../shared/actions.ts';
import { resolveFilePath, type TouchedFiles } from '../shared/files.ts';
import { collectTexts, getCleanText, getText, type Row } from '../shared/json.ts';
import { describeMcpFileCall } from '../shared/mcp-files.ts';

/** `tool` is without the name of the extension. */
export function readAction({ tool, input, cwd }: ToolCall, files: TouchedFiles): Action {
  const given = getText(input, 'path', 'file_path');
  const path = given === null ? null : resolveFilePath(given, cwd);
  switch (tool) {
    case 'shell':
      return { kind: 'command', command: getCleanText(input, 'command'), background: false };
    case 'text_editor':
    case 'str_replace_editor':
      return readEditor(input, path ?? '', files);
    case 'read':
    case 'read_file':
    case 'view':
      return files.read(path ?? '');
    case 'write':
      return { kind: 'edit', edits: [files.write(path ?? '', getCleanText(input, 'content'))] };
    case 'edit': {
      const before = getCleanText(input, 'before');
      return { kind: 'edit', edits: [files.edit(path ?? '', before, getCleanText(input, 'after'))] };
    }
    case 'tree':
    case 'list_files':
      return { kind: 'search', pattern: '', path };
    case 'glob':
    case 'search':
    case 'ripgrep':
      return { kind: 'search', pattern: getText(input, 'pattern', 'query') ?? '', path };
    case 'web_fetch':
    case 'web_scrape':
    case 'fetch':
      return { kind: 'fetch', url: getCleanText(input, 'url') };
    case 'delegate':
    case 'subagent':
      return { kind: 'delegate', task: getText(input, 'instructions', 'task', 'prompt') ?? '' };
    default:
      return describeMcpFileCall({ tool, input, cwd }, files) ?? { kind: 'other', texts: collectTexts(input) };
  }
}

/** One tool for everything that can be done to a file, in releases up to 1.2x. */
function readEditor(input: Row, path: string, files: TouchedFiles): Action {
  switch (getText(input, 'command')) {
    case 'view':
      return files.read(path);
    case 'write':
    case 'create':
      return { kind: 'edit', edits: [files.write(path, getCleanText(input, 'file_text'))] };
    case 'str_replace':
    case 'edit_file':
    case 'insert': {
      const after = getCleanText(input, 'new_str', 'code_edit', 'diff');
      return { kind: 'edit', edits: [files.edit(path, getCleanText(input, 'old_str'), after)] };
    }
    default:
      return { kind: 'other', texts: collectTexts(input) };
  }
}
