import type { Action, FileEdit, PlanItem } from '../../model/event.ts';
import { collectTexts, getAnyText, getRow, getRows, getText, type Row } from '../json.ts';
import { parsePatch } from '../patch.ts';
import { resolveFilePath, type TouchedFiles } from '../touched-files.ts';

export interface ToolUse {
  tool: string;
  input: Row;
  /** What OpenCode notes about the run, once there is one. */
  metadata: Row;
  cwd: string | null;
}

/** What a tool of OpenCode does, in words that all agents share. */
export function readAction(use: ToolUse, files: TouchedFiles): Action {
  const { tool, input, cwd } = use;
  switch (tool) {
    case 'bash':
    case 'shell':
      return { kind: 'command', command: textOf(input, 'command'), background: false };
    case 'read':
    case 'list':
    case 'ls':
      return readPlace(use, files);
    case 'grep':
    case 'glob':
      return { kind: 'search', pattern: textOf(input, 'pattern'), path: placeOf(input, cwd) };
    case 'edit':
    case 'multiedit':
    case 'write':
    case 'apply_patch':
    case 'patch':
      return { kind: 'edit', edits: readEdits(use, files) };
    case 'webfetch':
      return { kind: 'fetch', url: textOf(input, 'url') };
    case 'task':
      return { kind: 'delegate', task: getAnyText(input, 'prompt', 'description')?.toWellFormed() ?? '' };
    case 'question':
      return { kind: 'ask', question: readQuestions(input).join('\n') };
    default:
      return { kind: 'other', texts: collectTexts(input) };
  }
}

function readPlace({ tool, input, cwd }: ToolUse, files: TouchedFiles): Action {
  const path = placeOf(input, cwd);
  if (tool !== 'read') return { kind: 'search', pattern: '', path };
  if (path !== null) files.meet(path);
  return { kind: 'read', path: path ?? '' };
}

function readEdits({ tool, input, metadata, cwd }: ToolUse, files: TouchedFiles): FileEdit[] {
  const patch = getText(input, 'patchText');
  if (patch !== null) return parsePatch(patch.toWellFormed()).map((edit) => placeEdit(edit, cwd));
  const path = placeOf(input, cwd) ?? '';
  if (tool === 'write') {
    const edit = files.write(path, textOf(input, 'content'));
    const existed = metadata.exists;
    return [typeof existed === 'boolean' ? { ...edit, change: existed ? 'edited' : 'created' } : edit];
  }
  const changes = tool === 'multiedit' ? getRows(input, 'edits') : [input];
  return changes.map((change) => {
    const before = textOf(change, 'oldString');
    const after = textOf(change, 'newString');
    return before === '' ? files.write(path, after) : files.edit(path, before, after);
  });
}

function placeEdit(edit: FileEdit, cwd: string | null): FileEdit {
  const { path, to } = edit;
  return {
    ...edit,
    path: resolveFilePath(path, cwd),
    ...(to === undefined ? {} : { to: resolveFilePath(to, cwd) }),
  };
}

export function readQuestions(input: Row): string[] {
  return getRows(input, 'questions').map((question) => textOf(question, 'question'));
}

/** What the human answered, each answer with its question where there were several. */
export function readAnswers(input: Row, metadata: Row): string | null {
  if (!Array.isArray(metadata.answers)) return null;
  const questions = readQuestions(input);
  const answers = metadata.answers.map((answer) => collectTexts(answer).join(', '));
  if (answers.length === 1) return answers[0] ?? null;
  return answers.map((answer, index) => `${questions[index] ?? ''} ${answer}`.trim()).join('\n');
}

export function readPlan(input: Row): PlanItem[] {
  return getRows(input, 'todos').map((todo) => ({
    text: textOf(todo, 'content'),
    status: readStatus(getText(todo, 'status')),
  }));
}

function readStatus(status: string | null): PlanItem['status'] {
  return status === 'in_progress' || status === 'completed' || status === 'cancelled' ? status : 'pending';
}

/** The text that a result shows: of a file that was read its own text, without OpenCode's line numbers around it. */
export function readOutput(tool: string, state: Row): string {
  const shown = getRow(getRow(state, 'metadata'), 'display');
  if (tool === 'read' && shown.type === 'file') {
    const text = getText(shown, 'text');
    if (text !== null) return text;
  }
  return getAnyText(state, 'output', 'error') ?? '';
}

function textOf(row: Row, key: string): string {
  return (getText(row, key) ?? '').toWellFormed();
}

function placeOf(input: Row, cwd: string | null): string | null {
  const path = getAnyText(input, 'filePath', 'path', 'filepath');
  return path === null ? null : resolveFilePath(path, cwd);
}
