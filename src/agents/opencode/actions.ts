import type { Action, FileEdit, PlanItem } from '../../model/event.ts';
import { resolveEdit, type ToolCall, toStatus } from '../shared/actions.ts';
import { resolveFilePath, type TouchedFiles } from '../shared/files.ts';
import { collectTexts, getCleanText, getRow, getText, type Row, toRows } from '../shared/json.ts';
import { describeMcpFileCall } from '../shared/mcp-files.ts';
import { parsePatch } from '../shared/patch.ts';

interface NotedCall extends ToolCall {
  /** What OpenCode notes about the run, once there is one. */
  metadata: Row;
}

export function readAction(call: NotedCall, files: TouchedFiles): Action {
  const { tool, input, cwd } = call;
  const given = getText(input, 'filePath', 'path', 'filepath');
  const path = given === null ? null : resolveFilePath(given, cwd);
  switch (tool) {
    case 'bash':
    case 'shell':
      return { kind: 'command', command: getCleanText(input, 'command'), background: false };
    case 'read':
      return path === null ? { kind: 'read', path: '' } : files.read(path);
    case 'list':
    case 'ls':
      return { kind: 'search', pattern: '', path };
    case 'grep':
    case 'glob':
      return { kind: 'search', pattern: getCleanText(input, 'pattern'), path };
    case 'edit':
    case 'multiedit':
    case 'write':
    case 'apply_patch':
    case 'patch':
      return { kind: 'edit', edits: readEdits(call, path ?? '', files) };
    case 'webfetch':
      return { kind: 'fetch', url: getCleanText(input, 'url') };
    case 'task':
      return { kind: 'delegate', task: getCleanText(input, 'prompt', 'description') };
    case 'question':
      return { kind: 'ask', question: readQuestions(input).join('\n') };
    default:
      return describeMcpFileCall(call, files) ?? { kind: 'other', texts: collectTexts(input) };
  }
}

function readEdits(call: NotedCall, path: string, files: TouchedFiles): FileEdit[] {
  const { tool, input, metadata, cwd } = call;
  const patch = getText(input, 'patchText');
  if (patch !== null) return parsePatch(patch.toWellFormed()).map((edit) => resolveEdit(edit, cwd));
  if (tool === 'write') {
    const edit = files.write(path, getCleanText(input, 'content'));
    const existed = metadata.exists;
    return [typeof existed === 'boolean' ? { ...edit, change: existed ? 'edited' : 'created' } : edit];
  }
  const changes = tool === 'multiedit' ? toRows(input.edits) : [input];
  return changes.map((edit) => files.replace(path, getCleanText(edit, 'oldString'), getCleanText(edit, 'newString')));
}

function readQuestions(input: Row): string[] {
  return toRows(input.questions).map((question) => getCleanText(question, 'question'));
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
  return toRows(input.todos).map((todo) => ({ text: getCleanText(todo, 'content'), status: toStatus(todo.status) }));
}

/** The text of a result: for a file that was read the file's own text, without OpenCode's line numbers. */
export function readOutput(tool: string, state: Row): string {
  const shown = getRow(getRow(state, 'metadata'), 'display');
  const text = tool === 'read' && shown.type === 'file' ? getText(shown, 'text') : null;
  return text ?? getText(state, 'output', 'error') ?? '';
}
