import type { Action, FileEdit } from '../../model/event.ts';
import { asRow, collectTexts, getAnyText, getNumber, getText, type Row } from '../shared/json.ts';
import { toMessageText } from '../shared/message-text.ts';
import { parsePatch } from '../shared/patch.ts';
import { resolveFilePath } from '../shared/touched-files.ts';

/** What a tool call does. Some tools do several things in one call: each is an action of its own. */
export function toActions(tool: string, input: unknown, cwd: string | null): Action[] {
  const actions = toKnown(tool, input, cwd);
  return actions.length > 0 ? actions : [{ kind: 'other', texts: collectTexts(input).map(toMessageText) }];
}

function toKnown(tool: string, input: unknown, cwd: string | null): Action[] {
  const fields = asRow(input) ?? {};
  switch (tool) {
    case 'read_files':
      return listOf(input, 'files', 'paths', 'file_paths').flatMap((file) => {
        const path = typeof file === 'string' ? file : getText(asRow(file) ?? {}, 'path');
        return path === null ? [] : [{ kind: 'read', path: resolveFilePath(path, cwd) }];
      });
    case 'run_commands':
      return listOf(input, 'commands', 'command', 'cmd').flatMap((command) => toCommand(command, fields));
    case 'search_codebase':
      return listOf(input, 'queries').flatMap((query) => {
        return typeof query === 'string'
          ? [{ kind: 'search', pattern: toMessageText(query), path: null }]
          : [];
      });
    case 'web_search':
      return only(getText(fields, 'query'), (pattern) => ({ kind: 'search', pattern, path: null }));
    case 'fetch_web_content':
      return listOf(input, 'requests').flatMap((request) => {
        return only(getText(asRow(request) ?? {}, 'url'), (url) => ({ kind: 'fetch', url }));
      });
    case 'editor':
      return toEdits(fields, cwd);
    case 'apply_patch':
      return toPatch(typeof input === 'string' ? input : getText(fields, 'input'), cwd);
    case 'ask_question':
    case 'ask_followup_question':
      return only(getText(fields, 'question'), (question) => ({ kind: 'ask', question }));
    case 'spawn_agent':
    case 'new_task':
      return only(getAnyText(fields, 'task', 'prompt', 'context'), (task) => ({ kind: 'delegate', task }));
    default:
      return [];
  }
}

function only(text: string | null, make: (text: string) => Action): Action[] {
  return text === null ? [] : [make(toMessageText(text))];
}

/** Inputs may be a list, one thing, or an object that has either under one of the names. */
function listOf(input: unknown, ...names: readonly string[]): readonly unknown[] {
  const fields = asRow(input);
  const name = names.find((candidate) => fields?.[candidate] !== undefined);
  const value = fields === null || name === undefined ? input : fields[name];
  return Array.isArray(value) ? value : [value];
}

function toCommand(command: unknown, fields: Row): Action[] {
  const background = fields.background === true || fields.run_in_background === true;
  const make = (line: string): Action => ({ kind: 'command', command: line, background });
  if (typeof command === 'string') return only(command, make);
  const { args } = asRow(command) ?? {};
  const words: unknown[] = [asRow(command)?.command, ...(Array.isArray(args) ? args : [])];
  return only(words.filter((word) => typeof word === 'string').join(' ') || null, make);
}

function toEdits(fields: Row, cwd: string | null): Action[] {
  const path = getText(fields, 'path');
  if (path === null) return [];
  const before = getAnyText(fields, 'old_text', 'old_str');
  const after = getAnyText(fields, 'new_text', 'new_str', 'file_text') ?? '';
  const isNew = before === null && getNumber(fields, 'insert_line') === null;
  const edit: FileEdit = {
    path: resolveFilePath(path, cwd),
    change: isNew ? 'created' : 'edited',
    before: (before ?? '').toWellFormed(),
    after: after.toWellFormed(),
  };
  return [{ kind: 'edit', edits: [edit] }];
}

export function toPatch(patch: string | null, cwd: string | null): Action[] {
  const edits = parsePatch((patch ?? '').toWellFormed()).map((edit) => {
    const path = resolveFilePath(edit.path, cwd);
    return edit.to === undefined ? { ...edit, path } : { ...edit, path, to: resolveFilePath(edit.to, cwd) };
  });
  return edits.length === 0 ? [] : [{ kind: 'edit', edits }];
}
