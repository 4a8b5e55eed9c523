import type { Action, FileEdit } from '../../model/event.ts';
import { collectTexts, getAnyText, getRows, getText, type Row } from '../shared/json.ts';
import { toMessageText } from '../shared/message-text.ts';
import { resolveFilePath, type TouchedFiles } from '../shared/touched-files.ts';

export interface Call {
  tool: string;
  input: Row;
  cwd: string | null;
}

/** What a call is about to do, as far as the call itself tells. */
export function describeCall(call: Call, files: TouchedFiles): Action {
  return describeFileCall(call, files) ?? describeOtherCall(call);
}

function describeFileCall({ tool, input, cwd }: Call, files: TouchedFiles): Action | null {
  const given = getAnyText(input, 'file_path', 'notebook_path', 'path');
  if (given === null) return null;
  const path = resolveFilePath(given, cwd);
  switch (tool) {
    case 'Read':
    case 'NotebookRead':
      files.markSeen(path);
      return { kind: 'read', path };
    case 'Write':
      return { kind: 'edit', edits: [files.write(path, getText(input, 'content') ?? '')] };
    case 'Edit':
      return { kind: 'edit', edits: [describeReplacement(path, input, files)] };
    case 'MultiEdit':
      return {
        kind: 'edit',
        edits: getRows(input, 'edits').map((edit) => describeReplacement(path, edit, files)),
      };
    case 'NotebookEdit':
      return { kind: 'edit', edits: [files.edit(path, '', getText(input, 'new_source') ?? '')] };
    default:
      return null;
  }
}

/** Nothing to be replaced is how a new file is made with an edit. */
function describeReplacement(path: string, edit: Row, files: TouchedFiles): FileEdit {
  const before = getText(edit, 'old_string') ?? '';
  const after = getText(edit, 'new_string') ?? '';
  return before === '' ? files.write(path, after) : files.edit(path, before, after);
}

function describeOtherCall({ tool, input, cwd }: Call): Action {
  switch (tool) {
    case 'Bash':
    case 'PowerShell':
    case 'Monitor': {
      const background = input.run_in_background === true || tool === 'Monitor';
      return { kind: 'command', command: toMessageText(getText(input, 'command') ?? ''), background };
    }
    case 'Grep':
    case 'Glob':
    case 'LS':
      return {
        kind: 'search',
        pattern: toMessageText(getText(input, 'pattern') ?? ''),
        path: locateOrNull(input.path, cwd),
      };
    case 'WebSearch':
      return { kind: 'search', pattern: toMessageText(getText(input, 'query') ?? ''), path: null };
    case 'WebFetch':
      return { kind: 'fetch', url: toMessageText(getText(input, 'url') ?? '') };
    case 'Task':
    case 'Agent':
      return { kind: 'delegate', task: joinTexts(input.description, input.prompt) };
    case 'AskUserQuestion':
      return {
        kind: 'ask',
        question: joinTexts(...getRows(input, 'questions').map(({ question }) => question)),
      };
    case 'ExitPlanMode':
      return { kind: 'propose', text: toMessageText(getText(input, 'plan') ?? '') };
    default:
      return { kind: 'other', texts: collectTexts(input) };
  }
}

function locateOrNull(path: unknown, cwd: string | null): string | null {
  return typeof path === 'string' && path !== '' ? resolveFilePath(path, cwd) : null;
}

function joinTexts(...texts: readonly unknown[]): string {
  return toMessageText(texts.filter((text) => typeof text === 'string' && text !== '').join('\n'));
}

const TELL_MORE_AFTERWARDS = new Set(['Write', 'Edit', 'Bash', 'PowerShell', 'ExitPlanMode']);

/** Whether the result will say more about what the call did than the call does. */
export function isToldByResult(tool: string): boolean {
  return TELL_MORE_AFTERWARDS.has(tool);
}

/** What a call turned out to have done. */
export function refineAction(action: Action, data: Row, text: string): Action {
  if (action.kind === 'command') {
    const background =
      typeof data.backgroundTaskId === 'string' || text.startsWith('Command running in background');
    return background ? { ...action, background } : action;
  }
  if (action.kind === 'propose') {
    return action.text === '' ? { ...action, text: toMessageText(getText(data, 'plan') ?? '') } : action;
  }
  const [edit, ...more] = action.kind === 'edit' ? action.edits : [];
  return edit === undefined || more.length > 0
    ? action
    : { kind: 'edit', edits: [refineEdit(edit, data, text)] };
}

function refineEdit(edit: FileEdit, data: Row, text: string): FileEdit {
  if (data.type === 'create' || text.startsWith('File created successfully'))
    return { ...edit, change: 'created' };
  if (data.type === 'update') return { ...edit, change: 'edited', before: toText(data.originalFile) };
  if (data.userModified === true && typeof data.newString === 'string') {
    return { ...edit, before: toText(data.oldString), after: toText(data.newString) };
  }
  return edit;
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value.toWellFormed() : '';
}
