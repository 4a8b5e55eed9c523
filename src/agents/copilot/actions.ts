import type { Action, FileEdit } from '../../model/event.ts';
import { asRow, collectTexts, getAnyText, getText, type Row } from '../shared/json.ts';
import { toMessageText } from '../shared/message-text.ts';
import { parsePatch } from '../shared/patch.ts';
import { resolveFilePath } from '../shared/touched-files.ts';

/** What a tool call does. `input` is an object, or the text of a tool that takes free text. */
export function toAction(tool: string, input: unknown, cwd: string | null): Action {
  const fields = asRow(input) ?? {};
  const path = getText(fields, 'path');
  const at = path === null ? null : resolveFilePath(path, cwd);
  return toKnown(tool, fields, at) ?? (tool === 'apply_patch' ? toPatch(input, cwd) : null) ?? toOther(input);
}

function toOther(input: unknown): Action {
  return { kind: 'other', texts: collectTexts(input).map(toMessageText) };
}

function toKnown(tool: string, fields: Row, path: string | null): Action | null {
  switch (tool) {
    case 'bash':
    case 'powershell':
    case 'shell':
      return toCommand(fields);
    case 'view':
      return path === null ? null : { kind: 'read', path };
    case 'create':
    case 'edit':
    case 'str_replace':
      return path === null ? null : toEdit(tool, fields, path);
    case 'str_replace_editor':
      return path === null ? null : toEditorAction(getText(fields, 'command'), fields, path);
    case 'glob':
    case 'rg':
    case 'grep':
      return toSearch(getText(fields, 'pattern'), path);
    case 'web_search':
      return toSearch(getText(fields, 'query'), null);
    case 'web_fetch':
    case 'fetch':
      return spoken(getText(fields, 'url'), (url) => ({ kind: 'fetch', url }));
    case 'task':
      return spoken(getAnyText(fields, 'prompt', 'description'), (task) => ({ kind: 'delegate', task }));
    case 'ask_user':
      return spoken(getText(fields, 'question'), (question) => ({ kind: 'ask', question }));
    case 'exit_plan_mode':
      return spoken(getAnyText(fields, 'plan', 'summary'), (text) => ({ kind: 'propose', text }));
    default:
      return null;
  }
}

function spoken(text: string | null, make: (text: string) => Action): Action | null {
  return text === null ? null : make(toMessageText(text));
}

function toCommand(fields: Row): Action | null {
  const background = fields.mode === 'async' || fields.mode === 'background' || fields.detach === true;
  return spoken(getText(fields, 'command'), (command) => ({ kind: 'command', command, background }));
}

function toSearch(pattern: string | null, path: string | null): Action | null {
  return spoken(pattern, (wanted) => ({ kind: 'search', pattern: wanted, path }));
}

function toEditorAction(command: string | null, fields: Row, path: string): Action | null {
  if (command === 'view') return { kind: 'read', path };
  return command === null ? null : toEdit(command, fields, path);
}

function toEdit(command: string, fields: Row, path: string): Action {
  const text = (...names: string[]): string => (getAnyText(fields, ...names) ?? '').toWellFormed();
  const edit: FileEdit =
    command === 'create'
      ? { path, change: 'created', before: '', after: text('file_text', 'content') }
      : { path, change: 'edited', before: text('old_str'), after: text('new_str', 'insert_text') };
  return { kind: 'edit', edits: [edit] };
}

function toPatch(input: unknown, cwd: string | null): Action | null {
  const patch = typeof input === 'string' ? input : getAnyText(asRow(input) ?? {}, 'input', 'patch');
  const edits = parsePatch((patch ?? '').toWellFormed()).map((edit) => {
    const path = resolveFilePath(edit.path, cwd);
    return edit.to === undefined ? { ...edit, path } : { ...edit, path, to: resolveFilePath(edit.to, cwd) };
  });
  return edits.length === 0 ? null : { kind: 'edit', edits };
}
