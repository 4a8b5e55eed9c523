import type { Action, FileEdit, PlanItem } from '../../model/event.ts';
import { collectTexts, getAnyText, getNumber, getRow, getRows, getText, type Row, toRows } from '../json.ts';
import { toMessageText } from '../message-text.ts';
import { resolveFilePath, type TouchedFiles } from '../touched-files.ts';
import { isRejection } from './prompts.ts';

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
      files.meet(path);
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

export interface ToolOutcome {
  ok: boolean;
  exit: number | null;
  output: string;
  refused?: true;
}

/** The text of a result's content, which is a text or a list of blocks. */
export function readContentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return toRows(content)
    .flatMap((block) => (block.type === 'text' ? (getText(block, 'text') ?? []) : []))
    .join('\n');
}

/**
 * How a call went. `data` is what Claude Code keeps beside the text that the model was given: there a file is without
 * line numbers and a long output is not yet cut.
 */
export function readOutcome(block: Row, text: string, data: Row): ToolOutcome {
  const ok = block.is_error !== true && data.interrupted !== true;
  if (!ok && isRejection(text)) return { ok, exit: null, output: '', refused: true };
  return { ok, exit: readExit(ok, text, data), output: readFullText(data) ?? unwrapError(text) };
}

const EXIT_CODE = /^(?:Error: )?Exit code (\d{1,9})\b/;

function readExit(ok: boolean, text: string, data: Row): number | null {
  const told = getNumber(getRow(data, 'task'), 'exitCode');
  if (told !== null) return told;
  if (!ok) return toNumber(EXIT_CODE.exec(text)?.[1]);
  const finished = typeof data.stdout === 'string' && typeof data.backgroundTaskId !== 'string';
  if (!finished) return null;
  // The only statuses besides 0 that count as success are those of commands that say "no" with 1.
  return typeof data.returnCodeInterpretation === 'string' ? 1 : 0;
}

function toNumber(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}

function readFullText(data: Row): string | null {
  const file = getRow(data, 'file');
  if (data.type === 'text' && typeof file.content === 'string') return file.content;
  if (typeof data.persistedOutputPath !== 'string' || typeof data.stdout !== 'string') return null;
  return [data.stdout, getText(data, 'stderr') ?? ''].filter((part) => part !== '').join('\n');
}

const ERROR_OPEN = '<tool_use_error>';
const ERROR_CLOSE = '</tool_use_error>';

function unwrapError(text: string): string {
  if (!text.startsWith(ERROR_OPEN)) return text;
  const end = text.lastIndexOf(ERROR_CLOSE);
  return text.slice(ERROR_OPEN.length, end === -1 ? undefined : end);
}

export interface Notification extends ToolOutcome {
  call: string;
}

/** News that a call which went on in the background has ended; null for other texts, and when it names no call. */
export function readNotification(content: unknown): Notification | null {
  if (typeof content !== 'string' || !content.startsWith('<task-notification>')) return null;
  const call = readTag(content, 'tool-use-id');
  const status = readTag(content, 'status');
  if (call === null || (status !== 'completed' && status !== 'failed' && status !== 'killed')) return null;
  const summary = readTag(content, 'summary') ?? '';
  const result = readTag(content, 'result') ?? '';
  return {
    call,
    ok: status === 'completed',
    exit: toNumber(/\bexit code (\d{1,9})\b/.exec(summary)?.[1]),
    output: [summary, result].filter((part) => part !== '').join('\n'),
  };
}

function readTag(text: string, tag: string): string | null {
  const start = text.indexOf(`<${tag}>`);
  const end = start === -1 ? -1 : text.indexOf(`</${tag}>`, start);
  return end === -1 ? null : text.slice(start + tag.length + 2, end);
}

const PLAN_TOOLS = new Set(['TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskList', 'TaskGet']);

export function isPlanTool(tool: string): boolean {
  return PLAN_TOOLS.has(tool);
}

/** The list that `TodoWrite` was given: it is the whole plan each time. */
export function readTodos(input: Row): PlanItem[] {
  return getRows(input, 'todos').flatMap((todo) => {
    const text = getText(todo, 'content') ?? getText(todo, 'activeForm');
    return text === null ? [] : [{ text: toMessageText(text), status: toStatus(todo.status) }];
  });
}

function toStatus(status: unknown): PlanItem['status'] {
  return status === 'in_progress' || status === 'completed' || status === 'cancelled' ? status : 'pending';
}

const MAX_TASKS = 1000;

/** The plan that the task tools build up piece by piece. A task is known by the number that its creation gave it. */
export class TaskPlan {
  readonly #tasks: Map<string, PlanItem>;

  constructor(tasks: Map<string, PlanItem>) {
    this.#tasks = tasks;
  }

  /** What a finished call to a task tool changed: the whole plan, or null when it is as it was. */
  apply(tool: string, input: Row, outcome: { text: string; data: Row }): PlanItem[] | null {
    const { text, data } = outcome;
    if (tool === 'TaskCreate')
      return this.#create(input, getText(getRow(data, 'task'), 'id') ?? findNumber(text));
    if (tool === 'TaskUpdate') return this.#update(input, data.success !== false);
    if (tool === 'TaskList') return this.meet(data.tasks);
    return tool === 'TaskGet' ? this.meet([data.task]) : null;
  }

  /** Takes over tasks as the agent lists them: some may have been created before the transcript begins. */
  meet(listed: unknown): PlanItem[] | null {
    let changed = false;
    for (const task of toRows(listed)) {
      const id = getText(task, 'id');
      const subject = getText(task, 'subject');
      if (id === null || subject === null) continue;
      const known = this.#tasks.get(id);
      const status = toStatus(task.status);
      if (known?.status === status && known.text === subject) continue;
      this.#set(id, { ...known, text: toMessageText(subject), status });
      changed = true;
    }
    return changed ? this.#list() : null;
  }

  #create(input: Row, id: string | null): PlanItem[] | null {
    const subject = getText(input, 'subject') ?? getText(input, 'description');
    if (id === null || subject === null) return null;
    const detail = getText(input, 'description');
    const more = detail === null || detail === subject ? {} : { detail: toMessageText(detail) };
    this.#set(id, { text: toMessageText(subject), status: 'pending', ...more });
    return this.#list();
  }

  #update(input: Row, done: boolean): PlanItem[] | null {
    const id = getText(input, 'taskId') ?? String(input.taskId);
    const known = this.#tasks.get(id);
    const text = getText(input, 'subject') ?? known?.text;
    if (!done || text === undefined) return null;
    const detail = getText(input, 'description') ?? known?.detail;
    const status = getText(input, 'status');
    if (status === 'deleted') this.#tasks.delete(id);
    else {
      this.#set(id, {
        text: toMessageText(text),
        status: status === null ? (known?.status ?? 'pending') : toStatus(status),
        ...(detail === undefined ? {} : { detail: toMessageText(detail) }),
      });
    }
    return this.#list();
  }

  #set(id: string, item: PlanItem): void {
    if (this.#tasks.has(id) || this.#tasks.size < MAX_TASKS) this.#tasks.set(id, item);
  }

  #list(): PlanItem[] {
    return [...this.#tasks].map(([id, item]) => ({ ...item, id: id.toWellFormed() }));
  }
}

function findNumber(text: string): string | null {
  return /#(\d{1,9})\b/.exec(text)?.[1] ?? null;
}
