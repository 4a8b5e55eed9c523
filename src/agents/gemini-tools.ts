import type { Action, PlanItem } from '../model/event.ts';
import { asRow, collectTexts, getAnyText, getRows, getText, parseRow, type Row, toRows } from './json.ts';
import { toMessageText } from './message-text.ts';
import { resolveFilePath, type TouchedFiles } from './touched-files.ts';

/** The tools of Gemini CLI, which Qwen Code has too, some of them under other names. */
export interface GeminiCall {
  tool: string;
  input: Row;
  cwd: string | null;
}

export function describeGeminiCall(call: GeminiCall, files: TouchedFiles): Action {
  return describeFileCall(call, files) ?? describeOtherCall(call);
}

function describeFileCall({ tool, input, cwd }: GeminiCall, files: TouchedFiles): Action | null {
  const given = getAnyText(input, 'file_path', 'absolute_path', 'notebook_path', 'path');
  if (given === null || given === '') return null;
  const path = resolveFilePath(given, cwd);
  switch (tool) {
    case 'read_file':
      files.meet(path);
      return { kind: 'read', path };
    case 'write_file':
      return { kind: 'edit', edits: [files.write(path, getText(input, 'content') ?? '')] };
    case 'replace':
    case 'edit': {
      const before = getText(input, 'old_string') ?? '';
      const after = getText(input, 'new_string') ?? '';
      return {
        kind: 'edit',
        edits: [before === '' ? files.write(path, after) : files.edit(path, before, after)],
      };
    }
    case 'notebook_edit':
      return { kind: 'edit', edits: [files.edit(path, '', getText(input, 'new_source') ?? '')] };
    default:
      return null;
  }
}

function describeOtherCall({ tool, input, cwd }: GeminiCall): Action {
  const text = (...keys: readonly string[]): string => toMessageText(getAnyText(input, ...keys) ?? '');
  switch (tool) {
    case 'run_shell_command':
      return { kind: 'command', command: text('command'), background: input.is_background === true };
    case 'monitor':
      return { kind: 'command', command: text('command'), background: true };
    case 'grep_search':
    case 'search_file_content':
    case 'glob':
    case 'list_directory': {
      const place = getAnyText(input, 'dir_path', 'path');
      return {
        kind: 'search',
        pattern: text('pattern'),
        path: place === null ? null : resolveFilePath(place, cwd),
      };
    }
    case 'google_web_search':
    case 'web_search':
      return { kind: 'search', pattern: text('query'), path: null };
    case 'web_fetch':
      return { kind: 'fetch', url: findUrl(text('url', 'prompt')) };
    case 'agent':
    case 'task':
    case 'invoke_agent':
    case 'codebase_investigator':
    case 'generalist':
      return { kind: 'delegate', task: collectTask(input) };
    case 'ask_user':
    case 'ask_user_question':
      return { kind: 'ask', question: readQuestions(input).join('\n') };
    case 'exit_plan_mode':
      return { kind: 'propose', text: text('plan', 'plan_filename', 'plan_path') };
    default:
      return { kind: 'other', texts: collectTexts(input) };
  }
}

/** Where only words are given to fetch by, the address is among them. */
function findUrl(text: string): string {
  return /https?:\/\/[^\s"'<>]{1,2000}/.exec(text)?.[0] ?? text;
}

function collectTask(input: Row): string {
  const texts = [getText(input, 'description'), getAnyText(input, 'prompt', 'objective', 'task', 'request')];
  return toMessageText(texts.filter((text) => text !== null && text !== '').join('\n'));
}

function readQuestions(input: Row): string[] {
  return getRows(input, 'questions').flatMap((question) =>
    toMessageText(getText(question, 'question') ?? ''),
  );
}

/** What a call turned out to have done: only its result tells whether a file was there before. */
export function refineWrite(action: Action, text: string, display: unknown): Action {
  const [edit, ...more] = action.kind === 'edit' ? action.edits : [];
  if (edit === undefined || more.length > 0) return action;
  if (text.startsWith('Successfully created'))
    return { kind: 'edit', edits: [{ ...edit, change: 'created', before: '' }] };
  if (!text.startsWith('Successfully overwrote')) return action;
  const before = getText(asRow(display) ?? {}, 'originalContent') ?? '';
  return { kind: 'edit', edits: [{ ...edit, change: 'edited', before: before.toWellFormed() }] };
}

const TODO_TOOLS = new Set(['write_todos', 'todo_write']);

export function isPlanTool(tool: string): boolean {
  return TODO_TOOLS.has(tool) || tool.startsWith('tracker_');
}

/** The whole plan as a tool was given it, or as it shows it afterwards; null when there is none. */
export function readPlan(tool: string, input: Row, display: unknown): PlanItem[] | null {
  const list = TODO_TOOLS.has(tool) ? input.todos : asRow(display)?.todos;
  return Array.isArray(list) ? toRows(list).flatMap(readItem) : null;
}

function readItem(todo: Row): PlanItem[] {
  const text = getAnyText(todo, 'content', 'description');
  const { status } = todo;
  const isKnown = status === 'in_progress' || status === 'completed' || status === 'cancelled';
  return text === null ? [] : [{ text: toMessageText(text.trim()), status: isKnown ? status : 'pending' }];
}

export interface ShellOutput {
  exit: number | null;
  output: string;
}

const FRAME_START = /^(?:Command: [\s\S]*?\n)?(?:Directory: [^\n]*\n)?(?:Output|Stdout): /;
const LAST_FIELD = /\n(Exit Code|Signal|Background PIDs|Process Group PGID): ([^\n]{0,200})$/;
const ERROR_FIELD = '\nError: ';
const NOTHING = /^\((?:empty|none)\)$/;

/** What a shell command gave back, out of the frame that it is told in. Without a status in the frame it was 0. */
export function readShellOutput(text: string): ShellOutput | null {
  const start = FRAME_START.exec(text.slice(0, 20_000))?.[0];
  if (start === undefined) return null;
  let body = text.slice(start.length).trimEnd();
  let exit = 0;
  for (
    let field = LAST_FIELD.exec(body.slice(-300));
    field !== null;
    field = LAST_FIELD.exec(body.slice(-300))
  ) {
    const [whole, name, value = ''] = field;
    if (name === 'Exit Code' && /^\d{1,9}$/.test(value)) exit = Number(value);
    body = body.slice(0, -whole.length);
  }
  const split = body.lastIndexOf(ERROR_FIELD);
  const parts = split === -1 ? [body] : [body.slice(0, split), body.slice(split + ERROR_FIELD.length)];
  return { exit, output: parts.filter((part) => part !== '' && !NOTHING.test(part)).join('\n') };
}

/** What the human answered, as the tool gives it back; with several questions, each answer names its own. */
export function readGivenAnswers(text: string, input: Row): string | null {
  const answers = readNumberedAnswers(text, readQuestions(input)) ?? readNamedAnswers(text);
  const [only] = answers;
  if (only === undefined) return null;
  return answers.length === 1
    ? only.answer
    : answers.map(({ name, answer }) => `${name} → ${answer}`).join('\n');
}

interface Answer {
  name: string;
  answer: string;
}

function readNumberedAnswers(text: string, questions: readonly string[]): Answer[] | null {
  const answers = asRow(parseRow(text)?.answers);
  if (answers === null) return null;
  return Object.entries(answers).flatMap(([index, answer]) => {
    return typeof answer === 'string' ? [{ name: questions[Number(index)] ?? index, answer }] : [];
  });
}

const PROVIDED = 'User has provided the following answers:';

function readNamedAnswers(text: string): Answer[] {
  if (!text.startsWith(PROVIDED)) return [];
  return [...text.slice(0, 100_000).matchAll(/^\*\*([^\n]{1,200}?)\*\*: (.*)$/gm)].map(
    ([, name = '', answer = '']) => ({
      name,
      answer,
    }),
  );
}
