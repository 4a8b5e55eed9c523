import type { Action } from '../../model/event.ts';
import { makeOtherAction, makePatchAction, makeTextAction } from '../shared/actions.ts';
import { resolveFilePath, type TouchedFiles } from '../shared/files.ts';
import { asRow, getNumber, getText, type Row } from '../shared/json.ts';
import { describeMcpFileCall } from '../shared/mcp-files.ts';

/** What a tool call does. Some tools do several things in one call: each is an action of its own. */
export function toActions(call: { tool: string; input: unknown; cwd: string | null }, files: TouchedFiles): Action[] {
  const { tool, input, cwd } = call;
  const known = toKnownActions(tool, input, cwd);
  const all = known.length > 0 ? known : [describeMcpFileCall({ tool, input: asRow(input) ?? {}, cwd }, files)];
  const actions = all.filter((action) => action !== null);
  return actions.length > 0 ? actions : [makeOtherAction(input)];
}

function toKnownActions(tool: string, input: unknown, cwd: string | null): (Action | null)[] {
  const fields = asRow(input) ?? {};
  switch (tool) {
    case 'read_files':
      return listOf(input, 'files', 'paths', 'file_paths').map((file) => {
        const path = typeof file === 'string' ? file : getText(asRow(file) ?? {}, 'path');
        return path === null ? null : { kind: 'read', path: resolveFilePath(path, cwd) };
      });
    case 'run_commands':
      return listOf(input, 'commands', 'command', 'cmd').map((command) => toCommand(command, fields));
    case 'search_codebase':
      return listOf(input, 'queries').map((query) => {
        const text = typeof query === 'string' ? query : null;
        return makeTextAction(text, (pattern) => ({ kind: 'search', pattern, path: null }));
      });
    case 'web_search':
      return [makeTextAction(getText(fields, 'query'), (pattern) => ({ kind: 'search', pattern, path: null }))];
    case 'fetch_web_content':
      return listOf(input, 'requests').map((request) => {
        return makeTextAction(getText(asRow(request) ?? {}, 'url'), (url) => ({ kind: 'fetch', url }));
      });
    case 'editor':
      return [toEdit(fields, cwd)];
    case 'apply_patch':
      return [makePatchAction(typeof input === 'string' ? input : getText(fields, 'input'), cwd)];
    case 'ask_question':
    case 'ask_followup_question':
      return [makeTextAction(getText(fields, 'question'), (question) => ({ kind: 'ask', question }))];
    case 'spawn_agent':
    case 'new_task':
      return [makeTextAction(getText(fields, 'task', 'prompt', 'context'), (task) => ({ kind: 'delegate', task }))];
    default:
      return [];
  }
}

/** Inputs may be a list, one thing, or an object that has either under one of the names. */
function listOf(input: unknown, ...names: readonly string[]): readonly unknown[] {
  const fields = asRow(input);
  const name = names.find((candidate) => fields?.[candidate] !== undefined);
  const value = fields === null || name === undefined ? input : fields[name];
  return Array.isArray(value) ? value : [value];
}

function toCommand(given: unknown, fields: Row): Action | null {
  const background = fields.background === true || fields.run_in_background === true;
  const { command, args } = asRow(given) ?? {};
  const words: unknown[] = [command, ...(Array.isArray(args) ? args : [])];
  const line = typeof given === 'string' ? given : words.filter((word) => typeof word === 'string').join(' ') || null;
  return makeTextAction(line, (text) => ({ kind: 'command', command: text, background }));
}

function toEdit(fields: Row, cwd: string | null): Action | null {
  const given = getText(fields, 'path');
  if (given === null) return null;
  const path = resolveFilePath(given, cwd);
  const old = getText(fields, 'old_text', 'old_str');
  const change = old === null && getNumber(fields, 'insert_line') === null ? 'created' : 'edited';
  const before = (old ?? '').toWellFormed();
  const after = (getText(fields, 'new_text', 'new_str', 'file_text') ?? '').toWellFormed();
  return { kind: 'edit', edits: [{ path, change, before, after }] };
}
