import type { Action, FileEdit, PlanItem } from '../../model/event.ts';
import { asRow, collectTexts, getAnyText, getRow, getText, type Row, toRows } from '../shared/json.ts';
import { toMessageText } from '../shared/message-text.ts';
import { parsePatch, parseUnifiedDiff } from '../shared/patch.ts';
import { resolveFilePath } from '../shared/touched-files.ts';
import { findPatch, findShownFile, joinFolder, readCommandLine } from './commands.ts';

/** What a tool call does. `input` is the tool's input, an object or a text. */
export function toAction(tool: string, input: unknown, cwd: string | null): Action {
  const fields = asRow(input) ?? {};
  if (COMMAND_TOOLS.has(tool)) return toCommand(fields, cwd) ?? toOther(input);
  if (tool === 'apply_patch')
    return toPatch(typeof input === 'string' ? input : getAnyText(fields, 'input', 'patch'), cwd);
  if (tool === 'view_image') {
    const path = getText(fields, 'path');
    if (path !== null) return { kind: 'read', path: resolveFilePath(path, cwd) };
  }
  if (tool === 'request_user_input') return { kind: 'ask', question: readQuestions(fields) };
  if (tool === 'spawn_agent') {
    const task = getAnyText(fields, 'message', 'prompt', 'task');
    if (task !== null) return { kind: 'delegate', task: toMessageText(task) };
  }
  return toOther(input);
}

const COMMAND_TOOLS = new Set([
  'exec_command',
  'shell_command',
  'shell',
  'local_shell',
  'container.exec',
  'unified_exec',
]);

export function isCommandTool(tool: string): boolean {
  return COMMAND_TOOLS.has(tool);
}

export function toOther(input: unknown): Action {
  return { kind: 'other', texts: collectTexts(input).map(toMessageText) };
}

/** The folder of a command, which may be given with it. */
function findFolder(fields: Row, cwd: string | null): string | null {
  const folder = getAnyText(fields, 'workdir', 'working_directory');
  return folder === null ? cwd : resolveFilePath(folder, cwd);
}

function toCommand(fields: Row, cwd: string | null): Action | null {
  const line = readCommandLine(fields.cmd ?? fields.command ?? fields.input);
  return line === null ? null : readCommand(line, findFolder(fields, cwd));
}

/** A command, or what it does where that is plain: showing one file, or applying a patch. */
export function readCommand(line: string, folder: string | null): Action {
  const shown = findShownFile(line);
  if (shown !== null) return { kind: 'read', path: resolveFilePath(shown, folder) };
  const found = findPatch(line);
  const edits = found === null ? [] : parseEdits(found.patch, joinFolder(found.folder, folder));
  if (edits.length > 0) return { kind: 'edit', edits };
  return { kind: 'command', command: toMessageText(line), background: false };
}

function toPatch(patch: string | null, cwd: string | null): Action {
  const edits = patch === null ? [] : parseEdits(patch, cwd);
  return edits.length > 0 ? { kind: 'edit', edits } : toOther(patch);
}

function parseEdits(patch: string, cwd: string | null): FileEdit[] {
  return parsePatch(patch.toWellFormed()).map((edit) => locateEdit(edit, cwd));
}

function locateEdit(edit: FileEdit, cwd: string | null): FileEdit {
  const path = resolveFilePath(edit.path, cwd);
  return edit.to === undefined ? { ...edit, path } : { ...edit, path, to: resolveFilePath(edit.to, cwd) };
}

/** The edits of a patch that was applied: path by path, the file's content or a diff. */
export function readChanges(changes: Row, cwd: string | null): FileEdit[] {
  return Object.entries(changes).flatMap(([name, value]) => {
    const change = asRow(value);
    return change === null ? [] : readChange(name, change).map((edit) => locateEdit(edit, cwd));
  });
}

/** The kind of a change stands in it, or is the name that it goes under. */
function readChange(path: string, change: Row): FileEdit[] {
  const kind = getText(change, 'type') ?? Object.keys(change)[0] ?? '';
  const fields = change.type === undefined ? getRow(change, kind) : change;
  const content = (getText(fields, 'content') ?? '').toWellFormed();
  if (kind === 'add') return [{ path, change: 'created', before: '', after: content }];
  if (kind === 'delete') return [{ path, change: 'deleted', before: content, after: '' }];
  const diff = getText(fields, 'unified_diff');
  return diff === null ? [] : parseUnifiedDiff(diff.toWellFormed(), path, getText(fields, 'move_path'));
}

const STATUSES = ['pending', 'in_progress', 'completed', 'cancelled'] as const;

export function readPlan(input: unknown): PlanItem[] {
  return toRows(asRow(input)?.plan).flatMap((item) => {
    const text = getText(item, 'step');
    if (text === null) return [];
    return [
      { text: toMessageText(text), status: STATUSES.find((status) => status === item.status) ?? 'pending' },
    ];
  });
}

function readQuestions(fields: Row): string {
  const questions = toRows(fields.questions).flatMap((question) => getText(question, 'question') ?? []);
  return toMessageText(questions.join('\n'));
}

/** What the human chose or typed when asked. */
export function readAnswers(output: Row): string {
  const answers = Object.values(getRow(output, 'answers')).flatMap((answer) => {
    const given = asRow(answer)?.answers ?? answer;
    return Array.isArray(given) ? given : [given];
  });
  return answers
    .filter((answer) => typeof answer === 'string')
    .map((answer) => answer.replace(/^user_note: /, ''))
    .join('\n');
}
