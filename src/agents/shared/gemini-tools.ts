import type { Action, Event, PlanItem } from '../../model/event.ts';
import { readPlanItems, type ToolCall } from './actions.ts';
import { resolveFilePath, type TouchedFiles } from './files.ts';
import { asRow, getText, parseRow, type Row, toRows } from './json.ts';
import * as make from './make-events.ts';
import { describeMcpFileCall } from './mcp-files.ts';
import { collectTexts, toMessageText } from './message-text.ts';

/** A call of a tool of Gemini CLI. Qwen Code has the same tools, some of them under other names. */
interface GeminiCall extends ToolCall {
  id: string;
  /** What the tool returned and showed, where the record of the call has it. */
  output?: string;
  display?: unknown;
}

/** The event of a call: for a plan tool it is the plan. */
export function* makeToolCall(stamp: make.Stamp, call: GeminiCall, files: TouchedFiles): Generator<Event> {
  const { id, tool, input, output = '', display } = call;
  if (isPlanTool(tool)) {
    const plan = readPlan(tool, input, display);
    if (plan !== null) yield make.plan(stamp, plan);
    return;
  }
  const own = describeFileCall(call, files) ?? describeOtherCall(call);
  const action = own.kind === 'other' ? (describeMcpFileCall(call, files) ?? own) : own;
  yield make.call(stamp, { id, tool, action: refineWrite(action, output, display) });
}

function describeFileCall({ tool, input, cwd }: ToolCall, files: TouchedFiles): Action | null {
  const given = getText(input, 'file_path', 'absolute_path', 'notebook_path', 'path');
  if (given === null || given === '') return null;
  const path = resolveFilePath(given, cwd);
  switch (tool) {
    case 'read_file':
      return files.read(path);
    case 'write_file':
      return { kind: 'edit', edits: [files.write(path, getText(input, 'content') ?? '')] };
    case 'replace':
    case 'edit': {
      const after = getText(input, 'new_string') ?? '';
      return { kind: 'edit', edits: [files.replace(path, getText(input, 'old_string') ?? '', after)] };
    }
    case 'notebook_edit':
      return { kind: 'edit', edits: [files.edit(path, '', getText(input, 'new_source') ?? '')] };
    default:
      return null;
  }
}

const URL_IN_TEXT = /https?:\/\/[^\s"'<>]{1,2000}/;

function describeOtherCall({ tool, input, cwd }: ToolCall): Action {
  const text = (key: string, ...others: readonly string[]): string =>
    toMessageText(getText(input, key, ...others) ?? '');
  switch (tool) {
    case 'run_shell_command':
      return { kind: 'command', command: text('command'), background: input.is_background === true };
    case 'monitor':
      return { kind: 'command', command: text('command'), background: true };
    case 'grep_search':
    case 'search_file_content':
    case 'glob':
    case 'list_directory': {
      const place = getText(input, 'dir_path', 'path');
      return { kind: 'search', pattern: text('pattern'), path: place === null ? null : resolveFilePath(place, cwd) };
    }
    case 'google_web_search':
    case 'web_search':
      return { kind: 'search', pattern: text('query'), path: null };
    case 'web_fetch':
      // A prompt to fetch something has the address in it.
      return { kind: 'fetch', url: URL_IN_TEXT.exec(text('url', 'prompt'))?.[0] ?? text('url', 'prompt') };
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

function collectTask(input: Row): string {
  const texts = [getText(input, 'description'), getText(input, 'prompt', 'objective', 'task', 'request')];
  return toMessageText(texts.filter((text) => text !== null && text !== '').join('\n'));
}

function readQuestions(input: Row): string[] {
  return toRows(input.questions).map((row) => toMessageText(getText(row, 'question') ?? ''));
}

/** Completes an edit by its result, the only place that says whether the file was there before. */
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

function isPlanTool(tool: string): boolean {
  return TODO_TOOLS.has(tool) || tool.startsWith('tracker_');
}

/** The whole plan, from a tool's input or from what it shows afterwards; null when there is none. */
function readPlan(tool: string, input: Row, display: unknown): PlanItem[] | null {
  const list = TODO_TOOLS.has(tool) ? input.todos : asRow(display)?.todos;
  return Array.isArray(list) ? readPlanItems(list, 'content', 'description') : null;
}

const FRAME_START = /^(?:Command: [\s\S]*?\n)?(?:Directory: [^\n]*\n)?(?:Output|Stdout): /;
const LAST_FIELD = /\n(Exit Code|Signal|Background PIDs|Process Group PGID): ([^\n]{0,200})$/;
const ERROR_FIELD = '\nError: ';
const NOTHING = /^\((?:empty|none)\)$/;

/** Exit status and output of a shell command, from the labelled text that the tool returns. No status means 0. */
export function readShellOutput(text: string): { exit: number; output: string } | null {
  const start = FRAME_START.exec(text.slice(0, 20_000))?.[0];
  if (start === undefined) return null;
  let body = text.slice(start.length).trimEnd();
  let exit = 0;
  for (;;) {
    const [field, name, value = ''] = LAST_FIELD.exec(body.slice(-300)) ?? [];
    if (field === undefined) break;
    if (name === 'Exit Code' && /^\d{1,9}$/.test(value)) exit = Number(value);
    body = body.slice(0, -field.length);
  }
  const split = body.lastIndexOf(ERROR_FIELD);
  const parts = split === -1 ? [body] : [body.slice(0, split), body.slice(split + ERROR_FIELD.length)];
  return { exit, output: parts.filter((part) => part !== '' && !NOTHING.test(part)).join('\n') };
}

/** A call without its result so far. The input is kept only where the result cannot be understood without it. */
export type OpenCall = Pick<ToolCall, 'tool' | 'input'>;

const ASK_TOOLS = new Set(['ask_user', 'ask_user_question']);

export function toOpenCall(tool: string, input: Row): OpenCall {
  return { tool, input: ASK_TOOLS.has(tool) ? input : {} };
}

/** The events of a result: a brief of ours was injected, an answer to a question is a prompt, a plan has none. */
export function* makeToolResult(stamp: make.Stamp, call: OpenCall, outcome: make.CallOutcome): Generator<Event> {
  if (isPlanTool(call.tool)) return;
  yield make.result(stamp, outcome);
  yield* make.injected(stamp, outcome.output);
  const answers = ASK_TOOLS.has(call.tool) && outcome.ok ? readAnswers(outcome.output, call.input) : null;
  if (answers !== null) yield* make.prompt(stamp, answers);
}

/** What the human answered, as the tool returns it; with several questions, each answer is preceded by its own. */
function readAnswers(text: string, input: Row): string | null {
  const answers = readNumberedAnswers(text, readQuestions(input)) ?? readNamedAnswers(text);
  if (answers.length < 2) return answers[0]?.[1] ?? null;
  return answers.map(([question, answer]) => `${question} → ${answer}`).join('\n');
}

function readNumberedAnswers(text: string, questions: readonly string[]): [string, string][] | null {
  const answers = asRow(parseRow(text)?.answers);
  if (answers === null) return null;
  return Object.entries(answers).flatMap(([index, answer]): [string, string][] => {
    return typeof answer === 'string' ? [[questions[Number(index)] ?? index, answer]] : [];
  });
}

function readNamedAnswers(text: string): [string, string][] {
  if (!text.startsWith('User has provided the following answers:')) return [];
  const lines = text.slice(0, 100_000).matchAll(/^\*\*([^\n]{1,200}?)\*\*: (.*)$/gm);
  return Array.from(lines, ([, name = '', answer = '']) => [name, answer]);
}
