import type { Action, FileEdit, PlanItem } from '../../model/event.ts';
import { readPlanItems, type ToolCall, toStatus } from '../shared/actions.ts';
import { resolveFilePath, type TouchedFiles } from '../shared/files.ts';
import { asRow, getNumber, getRow, getText, type Row, toRows } from '../shared/json.ts';
import type { CallOutcome } from '../shared/make-events.ts';
import { describeMcpFileCall } from '../shared/mcp-files.ts';
import { collectTexts, joinText, toMessageText } from '../shared/message-text.ts';
import { isRejection } from './prompts.ts';

/** What a call is about to do, as far as its input shows. */
export function describeCall(call: ToolCall, files: TouchedFiles): Action {
  const own = describeFileCall(call, files);
  if (own !== null || !call.tool.startsWith('mcp__')) return own ?? describeOtherCall(call);
  return describeMcpFileCall(call, files) ?? describeOtherCall(call);
}

function describeFileCall({ tool, input, cwd }: ToolCall, files: TouchedFiles): Action | null {
  const given = getText(input, 'file_path', 'notebook_path', 'path');
  if (given === null) return null;
  const path = resolveFilePath(given, cwd);
  switch (tool) {
    case 'Read':
    case 'NotebookRead':
      return files.read(path);
    case 'Write':
      return { kind: 'edit', edits: [files.write(path, getText(input, 'content') ?? '')] };
    case 'Edit':
      return { kind: 'edit', edits: [describeReplacement(path, input, files)] };
    case 'MultiEdit':
      return { kind: 'edit', edits: toRows(input.edits).map((edit) => describeReplacement(path, edit, files)) };
    case 'NotebookEdit':
      return { kind: 'edit', edits: [files.edit(path, '', getText(input, 'new_source') ?? '')] };
    default:
      return null;
  }
}

function describeReplacement(path: string, edit: Row, files: TouchedFiles): FileEdit {
  return files.replace(path, getText(edit, 'old_string') ?? '', getText(edit, 'new_string') ?? '');
}

function describeOtherCall({ tool, input, cwd }: ToolCall): Action {
  const text = (name: string): string => toMessageText(getText(input, name) ?? '');
  switch (tool) {
    case 'Bash':
    case 'PowerShell':
    case 'Monitor': {
      const background = input.run_in_background === true || tool === 'Monitor';
      return { kind: 'command', command: text('command'), background };
    }
    case 'Grep':
    case 'Glob':
    case 'LS': {
      const path = getText(input, 'path');
      return { kind: 'search', pattern: text('pattern'), path: path ? resolveFilePath(path, cwd) : null };
    }
    case 'WebSearch':
      return { kind: 'search', pattern: text('query'), path: null };
    case 'WebFetch':
      return { kind: 'fetch', url: text('url') };
    case 'Task':
    case 'Agent':
      return {
        kind: 'delegate',
        task: joinTexts(input.description, input.prompt),
        ...(input.run_in_background === true && { background: true }),
      };
    case 'AskUserQuestion':
      return { kind: 'ask', question: joinTexts(...toRows(input.questions).map(({ question }) => question)) };
    case 'ExitPlanMode':
      return { kind: 'propose', text: text('plan') };
    default:
      return { kind: 'other', texts: collectTexts(input) };
  }
}

function joinTexts(...texts: readonly unknown[]): string {
  return toMessageText(texts.filter((text) => typeof text === 'string' && text !== '').join('\n'));
}

/** Of what sub-agents do, only this is read from reports on their progress. */
export const EDIT_TOOLS: ReadonlySet<string> = new Set('Write Edit MultiEdit NotebookEdit'.split(' '));

/** Tools whose result says more about what the call did than its input. */
export const REFINED_TOOLS: ReadonlySet<string> = new Set(
  'Write Edit Bash PowerShell ExitPlanMode Agent Task'.split(' '),
);

/** What a call turned out to have done. */
export function refineAction(action: Action, data: Row, text: string): Action {
  if (action.kind === 'command') {
    const background = typeof data.backgroundTaskId === 'string' || text.startsWith('Command running in background');
    return background ? { ...action, background } : action;
  }
  if (action.kind === 'delegate') {
    const { background: _, ...rest } = action;
    return readLaunch(text, data) === null ? rest : { ...rest, background: true };
  }
  // The human may have edited a plan before approving it.
  if (action.kind === 'propose') return { ...action, text: toMessageText(getText(data, 'plan') || action.text) };
  const [edit, ...more] = action.kind === 'edit' ? action.edits : [];
  if (edit === undefined || more.length > 0) return action;
  return { kind: 'edit', edits: [refineEdit(edit, data, text)] };
}

function refineEdit(edit: FileEdit, data: Row, text: string): FileEdit {
  const field = (name: string): string => (getText(data, name) ?? '').toWellFormed();
  if (data.type === 'create' || text.startsWith('File created successfully')) return { ...edit, change: 'created' };
  if (data.type === 'update') return { ...edit, change: 'edited', before: field('originalFile') };
  if (data.userModified === true && typeof data.newString === 'string') {
    return { ...edit, before: field('oldString'), after: field('newString') };
  }
  return edit;
}

/** How a call went. `data` is for Claude Code itself: files have no line numbers in it, long outputs are not cut. */
export function readOutcome(block: Row, text: string, data: Row): Omit<CallOutcome, 'id'> {
  const ok = block.is_error !== true && data.interrupted !== true;
  if (!ok && isRejection(text)) return { ok, exit: null, output: '', refused: true };
  return { ok, exit: readExit(ok, text, data), output: readFullText(data) ?? unwrapError(text) };
}

const EXIT_CODE = /^(?:Error: )?Exit code (\d{1,9})\b/;

function readExit(ok: boolean, text: string, data: Row): number | null {
  const exitCode = getNumber(getRow(data, 'task'), 'exitCode');
  if (exitCode !== null) return exitCode;
  if (!ok) return toNumber(EXIT_CODE.exec(text)?.[1]);
  if (typeof data.stdout !== 'string' || typeof data.backgroundTaskId === 'string') return null;
  // The only other status that counts as success is 1, of commands that mean "no" by it.
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

function unwrapError(text: string): string {
  if (!text.startsWith(ERROR_OPEN)) return text;
  const end = text.lastIndexOf('</tool_use_error>');
  return text.slice(ERROR_OPEN.length, end === -1 ? undefined : end);
}

/** The id under which a sub-agent works on in the background; null when the result is that of its work. */
export function readLaunch(text: string, data: Row): string | null {
  const isLaunch = data.status === 'async_launched' || text.startsWith('Async agent launched successfully');
  return isLaunch ? (getText(data, 'agentId') ?? /\bagentId: ([\w-]{1,100})/.exec(text)?.[1] ?? '') : null;
}

/** The id of a command that continues in the background; null when the result is final. */
export function readCommandLaunch(text: string, data: Row): string | null {
  const started = /^Command running in background with ID: ([\w-]{1,100})/.exec(text)?.[1];
  return getText(data, 'backgroundTaskId') ?? started ?? null;
}

/** How background work ended. */
type Ending = Omit<CallOutcome, 'id' | 'refused' | 'running'>;

const ENDINGS: ReadonlySet<string> = new Set('completed failed killed stopped cancelled'.split(' '));

const NOTIFICATION = /^<(?:task|bash)-notification>/;

/** What a notification says of background work that ended; null for other texts. It names the call or only the task. */
export function readNotification(content: unknown): (Ending & { call: string | null; task: string | null }) | null {
  if (typeof content !== 'string' || !NOTIFICATION.test(content)) return null;
  const status = readTag(content, 'status');
  if (status === null || !ENDINGS.has(status)) return null;
  const summary = readTag(content, 'summary') ?? '';
  const output = [summary, readTag(content, 'result') ?? ''].filter((part) => part !== '').join('\n');
  const exit = toNumber(/\bexit code (\d{1,9})\b/.exec(summary)?.[1]);
  const names = {
    call: readTag(content, 'tool-use-id'),
    task: readTag(content, 'task-id') ?? readTag(content, 'shell-id'),
  };
  return { ...names, ok: status === 'completed', exit, output };
}

/** Tools that ask for the output of background work, and those that stop it. */
const OUTPUT_TOOLS = new Set('TaskOutput AgentOutputTool BashOutput'.split(' '));
const STOP_TOOLS = new Set('TaskStop KillShell KillBash'.split(' '));

export function isAboutTasks(tool: string): boolean {
  return OUTPUT_TOOLS.has(tool) || STOP_TOOLS.has(tool);
}

/** The background work that a call ended, or found to have ended. */
export function readEndings(
  { tool, input }: { tool: string; input: Row },
  { text, data }: { text: string; data: Row },
): (Ending & { task: string })[] {
  const named = getText(input, 'task_id', 'agentId', 'shell_id', 'bash_id', 'shellId');
  if (STOP_TOOLS.has(tool)) return named === null ? [] : [{ task: named, ok: false, exit: null, output: '' }];
  const listed = [data.task, ...toRows(data.agents)].map((task) => asRow(task) ?? {});
  const found = listed.flatMap((task) => toEnding(getText(task, 'task_id', 'agentId', 'id') ?? named, task));
  if (found.length > 0) return found;
  const output = readTag(text, 'output') ?? readTag(text, 'stdout');
  const reported = {
    status: readTag(text, 'status'),
    output,
    exitCode: toNumber(readTag(text, 'exit_code') ?? undefined),
  };
  return toEnding(readTag(text, 'task_id') ?? named, reported);
}

function toEnding(task: string | null, { status, ...record }: Row): (Ending & { task: string })[] {
  if (task === null || typeof status !== 'string' || !ENDINGS.has(status)) return [];
  const output = getText(record, 'result', 'output') ?? joinText(record.content);
  const exit = getNumber(record, 'exitCode');
  return [{ task, ok: status === 'completed' && (exit ?? 0) === 0, exit, output }];
}

function readTag(text: string, tag: string): string | null {
  const start = text.indexOf(`<${tag}>`);
  const end = start === -1 ? -1 : text.indexOf(`</${tag}>`, start);
  return end === -1 ? null : text.slice(start + tag.length + 2, end);
}

export const PLAN_TOOLS: ReadonlySet<string> = new Set('TodoWrite TaskCreate TaskUpdate TaskList TaskGet'.split(' '));

const MAX_TASKS = 1000;

/** The plan that the task tools build step by step. A task is known by the number that its creation returned. */
export class TaskPlan {
  readonly #tasks: Map<string, PlanItem>;

  constructor(tasks: Map<string, PlanItem>) {
    this.#tasks = tasks;
  }

  /** The whole plan after a finished call of a task tool; null when nothing changed. */
  apply(tool: string, input: Row, { text, data }: { text: string; data: Row }): PlanItem[] | null {
    if (tool === 'TodoWrite') return readPlanItems(input.todos, 'content', 'activeForm');
    if (tool === 'TaskCreate') {
      return this.#create(input, getText(getRow(data, 'task'), 'id') ?? /#(\d{1,9})\b/.exec(text)?.[1]);
    }
    if (tool === 'TaskUpdate') return data.success === false ? null : this.#update(input);
    if (tool === 'TaskList') return this.merge(data.tasks);
    return tool === 'TaskGet' ? this.merge([data.task]) : null;
  }

  /** Takes over tasks that the agent lists: some may have been created before the transcript begins. */
  merge(listed: unknown): PlanItem[] | null {
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

  #create(input: Row, id: string | undefined): PlanItem[] | null {
    const detail = getText(input, 'description');
    const subject = getText(input, 'subject') ?? detail;
    if (id === undefined || subject === null) return null;
    const more = detail === null || detail === subject ? {} : { detail: toMessageText(detail) };
    this.#set(id, { text: toMessageText(subject), status: 'pending', ...more });
    return this.#list();
  }

  #update(input: Row): PlanItem[] | null {
    const id = getText(input, 'taskId') ?? String(input.taskId);
    const known = this.#tasks.get(id);
    const text = getText(input, 'subject') ?? known?.text;
    if (text === undefined) return null;
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
