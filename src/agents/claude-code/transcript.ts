import type { Event, PlanItem } from '../../model/event.ts';
import { countUnknown, type ReadStats } from '../agent.ts';
import { TouchedFiles } from '../shared/files.ts';
import { asRow, getNumber, getRow, getText, type Row, toRows, toTimestamp } from '../shared/json.ts';
import type { NumberedRow } from '../shared/json-lines.ts';
import * as make from '../shared/make-events.ts';
import { joinText, toBlocks, toMessageText } from '../shared/message-text.ts';
import { PendingEvents, type PendingState, startPending, takeCall } from '../shared/pending-events.ts';
import { makeRowAgent, type ReaderOptions, type RowFormat, type RowReader } from '../shared/transcript.ts';
import * as prompts from './prompts.ts';
import * as rows from './rows.ts';
import { inspectFile, listTranscripts } from './sessions.ts';
import * as tools from './tools.ts';

/** What is remembered between rows. It is saved with a bookmark: its fields are a format on disk. */
interface State {
  pending: PendingState;
  queue: prompts.QueueState;
  tasks: Map<string, PlanItem>;
  files: Set<string>;
  seen: rows.SeenRows;
  rewound: rows.Rewinds;
  /** Calls without a result so far. */
  calls: Map<string, { tool: string; input: Row }>;
  /** The calls of sub-agents and commands that work in the background, by the ids of their tasks. */
  launched: Map<string, string>;
  message: { id: string | null; texts: Set<string> };
  cwd: string | null;
  branch: string | null;
  /** A compaction whose summary has not come yet. */
  boundary: make.Stamp | null;
}

function startState(cwd: string | null, rewound: rows.Rewinds): State {
  return {
    pending: startPending(),
    queue: { waiting: [], delivered: [] },
    tasks: new Map(),
    files: new Set(),
    seen: { earlier: new Uint32Array(0), ids: new Set() },
    rewound,
    calls: new Map(),
    launched: new Map(),
    message: { id: null, texts: new Set() },
    cwd,
    branch: null,
    boundary: null,
  };
}

const format: RowFormat<State> = {
  start: ({ cwd }) => startState(cwd, rows.startRewinds()),
  lookAhead: ({ cwd, path }, until) => startState(cwd, rows.findRewinds(path, until)),
  recordsBranch: true,
  openReader: (options) => new Conversation(options),
  shortcuts: ({ rewound }) => ({
    decode: rows.decodeWithoutCopies,
    // After a rewind, rows without content still link others to what was discarded.
    ...(rewound.taken.size === 0 && { canSkip: rows.canSkipRow }),
  }),
};

export const claudeCodeAgent = makeRowAgent({ name: 'claude-code', listTranscripts, inspectFile }, format);

const MAX_LAUNCHED = 500;

function isDelegate(tool: string | undefined): boolean {
  return tool === undefined || tool === 'Agent' || tool === 'Task';
}

class Conversation implements RowReader {
  readonly #state: State;
  readonly #stats: ReadStats;
  readonly #knowsAll: boolean;
  /** In a sub-agent's own file its rows are the main conversation. */
  readonly #isSubAgent: boolean;
  readonly #events: PendingEvents;
  readonly #queue: prompts.PromptQueue;
  readonly #tasks: tools.TaskPlan;
  readonly #files: TouchedFiles;

  constructor({ state, session, stats, knowsAll }: ReaderOptions<State>) {
    this.#state = state;
    this.#stats = stats;
    this.#knowsAll = knowsAll;
    this.#isSubAgent = session.parent !== null;
    this.#events = new PendingEvents(state.pending);
    this.#queue = new prompts.PromptQueue(state.queue);
    this.#tasks = new tools.TaskPlan(state.tasks);
    this.#files = new TouchedFiles(state.files);
  }

  read({ row, line }: NumberedRow): Event[] | null {
    const { rewound, seen } = this.#state;
    const replaced = this.#knowsAll ? null : rows.findReplacedPrompt(row, rewound);
    if (replaced !== null && !rewound.taken.has(replaced)) return null;
    if (rows.isDiscarded(row, rewound)) return [];
    const uuid = getText(row, 'uuid');
    const isSeen = uuid !== null && rows.markSeen(seen, uuid);
    if (isSeen !== false) return isSeen === true ? [] : null;
    this.#state.cwd = getText(row, 'cwd') || getText(row, 'relocatedCwd') || this.#state.cwd;
    this.#state.branch = getText(row, 'gitBranch') ?? this.#state.branch;
    this.#stats.agentVersion = getText(row, 'version') ?? this.#stats.agentVersion;
    const { cwd, branch } = this.#state;
    const stamp = make.stamp({ at: readTime(row.timestamp), line, id: uuid, cwd, branch });
    const sidechain = row.isSidechain === true && !this.#isSubAgent ? { sidechain: true } : {};
    this.#readRow(row, { ...stamp, ...sidechain });
    return this.#events.take();
  }

  saveState(): State {
    return { ...this.#state, seen: rows.packSeen(this.#state.seen) };
  }

  finish(): Event[] {
    this.#closeBoundary();
    for (const { said, stamp } of this.#queue.listWaiting()) this.#addSaid(said, stamp);
    this.#events.release();
    return this.#events.take();
  }

  #readRow(row: Row, stamp: make.Stamp): void {
    const type = getText(row, 'type') ?? '(no type)';
    if (type === 'user') this.#readUser(row, stamp);
    else if (type === 'assistant') this.#readAssistant(row, stamp);
    else if (type === 'system') this.#readSystem(row, stamp);
    else if (type === 'attachment') this.#readAttachment(getRow(row, 'attachment'), stamp);
    else if (type === 'queue-operation') this.#readQueue(row, stamp);
    else if (type === 'progress') this.#readProgress(getRow(row, 'data'), { ...stamp, sidechain: true });
    else if (!rows.KNOWN_TYPES.has(type)) countUnknown(this.#stats, type);
  }

  #readUser(row: Row, stamp: make.Stamp): void {
    const { content } = getRow(row, 'message');
    if (prompts.isSummaryRow(row))
      this.#addCompaction(stamp, prompts.readSummaryText(prompts.listSummaries(row).join('\n')) || null);
    const results = toRows(content).filter((block) => block.type === 'tool_result');
    const data = results.length === 1 ? (asRow(row.toolUseResult) ?? {}) : {};
    for (const block of results) this.#readResult(block, data, stamp);
    this.#readNotification(content, stamp);
    if (typeof content === 'string') this.#readTyped(content, getText(row, 'parentUuid'), stamp);
    if (prompts.isInterruption(content)) this.#addInterruption(stamp);
    if (row.isSidechain === true && !prompts.isMarkedHuman(row)) return;
    this.#addPrompts(prompts.readSaid(row), stamp, { content });
  }

  #addInterruption(stamp: make.Stamp): void {
    this.#events.release();
    this.#add(make.interruption(stamp));
  }

  #readNotification(content: unknown, stamp: make.Stamp): void {
    const ending = tools.readNotification(content);
    if (ending === null) return;
    const { call, task, ...outcome } = ending;
    const id = this.#state.launched.get(task ?? '') ?? call;
    if (task !== null) this.#state.launched.delete(task);
    if (id !== null) this.#add(make.result(stamp, { id, ...outcome }));
  }

  /** A command that the human ran, or what one printed, whose row follows that of the command. */
  #readTyped(content: string, parent: string | null, stamp: make.Stamp): void {
    const command = content.startsWith('<bash-input>') ? prompts.readElement(content, 'bash-input') : null;
    if (command !== null && stamp.ref.id !== null) {
      const action = { kind: 'command', command: toMessageText(command), background: false } as const;
      this.#add(make.call({ ...stamp, by_human: true }, { id: stamp.ref.id, tool: 'Bash', action }));
    } else if (parent !== null && content.startsWith('<bash-std')) {
      const printed = ['bash-stdout', 'bash-stderr'].flatMap((tag) => prompts.readElement(content, tag) ?? []);
      this.#add(make.result(stamp, { id: parent, ok: null, exit: null, output: printed.join('\n') }));
    }
  }

  /** A sub-agent's message. Its edits change the same files. */
  #readProgress(data: Row, stamp: make.Stamp): void {
    for (const block of toBlocks(getRow(getRow(data, 'message'), 'message').content)) {
      if (tools.EDIT_TOOLS.has(getText(block, 'name') ?? '')) this.#readCall(block, stamp);
      else if (this.#state.calls.has(getText(block, 'tool_use_id') ?? '')) this.#readResult(block, {}, stamp);
    }
  }

  /** Of what a call says about background work: that it has ended. */
  #readEndings(call: { tool: string; input: Row }, result: { text: string; data: Row }, stamp: make.Stamp): void {
    if (!tools.isAboutTasks(call.tool)) return;
    for (const { task, ...outcome } of tools.readEndings(call, result)) {
      const id = takeCall(this.#state.launched, task);
      if (id !== undefined) this.#add(make.result(stamp, { id, ...outcome }));
    }
  }

  #readResult(block: Row, data: Row, stamp: make.Stamp): void {
    const id = getText(block, 'tool_use_id');
    if (id === null) return;
    const text = joinText(block.content);
    const call = takeCall(this.#state.calls, id);
    if (call !== undefined && tools.PLAN_TOOLS.has(call.tool)) {
      if (block.is_error !== true) this.#addPlan(this.#tasks.apply(call.tool, call.input, { text, data }), stamp);
      return;
    }
    const isSideEdit = stamp.sidechain === true && tools.EDIT_TOOLS.has(call?.tool ?? '');
    const isDropped = isSideEdit && block.is_error === true;
    this.#events.settle(id.toWellFormed(), (action) => (isDropped ? null : tools.refineAction(action, data, text)));
    if (isDropped) return;
    const launched = isDelegate(call?.tool) && block.is_error !== true ? tools.readLaunch(text, data) : null;
    if (launched !== null) {
      this.#noteLaunch(launched, id);
      return;
    }
    const command = block.is_error === true ? null : tools.readCommandLaunch(text, data);
    if (command !== null) this.#noteLaunch(command, id);
    if (call !== undefined && block.is_error !== true) this.#readEndings(call, { text, data }, stamp);
    const outcome = tools.readOutcome(block, text, data);
    this.#add(make.result(stamp, { id, ...outcome }), ...make.injected(stamp, outcome.output));
    const isAnswered = call?.tool === 'AskUserQuestion' && block.is_error !== true;
    const answer = (isAnswered ? prompts.readAnswers(text, data) : null) ?? prompts.readRejection(text);
    if (answer !== null) this.#addPrompts([{ text: answer }], stamp);
  }

  #noteLaunch(task: string, call: string): void {
    const { launched } = this.#state;
    launched.set(task, call);
    for (const oldest of launched.keys()) if (launched.size > MAX_LAUNCHED) launched.delete(oldest);
  }

  #readAssistant(row: Row, place: make.Stamp): void {
    const message = getRow(row, 'message');
    const model = getText(message, 'model');
    const isSynthetic = model === '<synthetic>';
    const stamp = model === null || isSynthetic ? place : { ...place, model: model.toWellFormed() };
    this.#startMessage(getText(message, 'id'));
    for (const block of toBlocks(message.content)) {
      const type = getText(block, 'type') ?? '(no type)';
      if (type === 'tool_use') this.#readCall(block, stamp);
      else if (type === 'text') {
        const text = getText(block, 'text') ?? '';
        if (row.isApiErrorMessage === true) this.#add(make.limit(stamp, text));
        else if (!isSynthetic && this.#isNewText(text)) this.#add(...make.reply(stamp, text));
      } else if (type === 'thinking') this.#add(...make.thought(stamp, getText(block, 'thinking') ?? ''));
      else if (!rows.SILENT_BLOCKS.has(type)) countUnknown(this.#stats, `assistant/${type}`);
    }
  }

  /** One message is spread over several rows, a block each, and a block may be repeated. */
  #startMessage(id: string | null): void {
    if (id === null || id !== this.#state.message.id) this.#state.message = { id, texts: new Set() };
  }

  #isNewText(text: string): boolean {
    const isNew = !this.#state.message.texts.has(text);
    this.#state.message.texts.add(text);
    return isNew;
  }

  #readCall(block: Row, stamp: make.Stamp): void {
    const id = getText(block, 'id');
    const tool = getText(block, 'name');
    if (id === null || tool === null || this.#state.calls.has(id)) return;
    const input = getRow(block, 'input');
    this.#state.calls.set(id, { tool, input: tools.PLAN_TOOLS.has(tool) || tools.isAboutTasks(tool) ? input : {} });
    if (tools.PLAN_TOOLS.has(tool)) return;
    const action = tools.describeCall({ tool, input, cwd: this.#state.cwd }, this.#files);
    const event = make.call(stamp, { id, tool, action });
    this.#closeBoundary();
    const waits = tools.REFINED_TOOLS.has(tool) || (stamp.sidechain === true && action.kind === 'edit');
    if (event.type === 'call' && waits) this.#events.addWaiting(event);
    else this.#events.add(event);
  }

  #readSystem(row: Row, stamp: make.Stamp): void {
    if (row.subtype === 'compact_boundary') {
      this.#closeBoundary();
      this.#state.boundary = stamp;
      return;
    }
    // Claude Code retries most errors by itself; the last one of a row comes as a message.
    const isRetried = getNumber(row, 'retryAttempt') !== null;
    if (row.subtype === 'api_error' && !isRetried) this.#add(make.limit(stamp, describeApiError(row)));
  }

  #readAttachment(attachment: Row, stamp: make.Stamp): void {
    const { type, content } = attachment;
    if (type === 'queued_command') this.#readQueued(attachment, stamp);
    else if (type === 'teammate_mailbox') this.#addPrompts(prompts.readMailbox(attachment), stamp);
    else if (type === 'task_reminder') this.#addPlan(this.#tasks.merge(content), stamp);
    else {
      for (const text of Array.isArray(content) ? content : [content]) {
        if (typeof text === 'string') this.#add(...make.injected(stamp, text));
      }
    }
  }

  #readQueued(attachment: Row, stamp: make.Stamp): void {
    this.#readNotification(attachment.prompt, stamp);
    const mode = getText(attachment, 'commandMode') ?? 'prompt';
    if (mode !== 'prompt' || attachment.isMeta === true) return;
    const said = prompts.readContent(attachment.prompt);
    const isHuman = prompts.isHumanOrigin(attachment);
    const heard = isHuman ? said : said.filter(({ from }) => from !== undefined);
    this.#addPrompts(heard, stamp, { content: attachment.prompt, steering: true });
  }

  #readQueue(row: Row, stamp: make.Stamp): void {
    const content = getText(row, 'content');
    if (row.operation === 'enqueue' && content !== null) {
      this.#readNotification(content, stamp);
      this.#queue.enqueue(content, stamp);
    } else if (row.operation === 'dequeue') this.#queue.leave(content);
    else if (row.operation === 'popAll') this.#queue.clear();
    else if (row.operation === 'remove') {
      const prompt = this.#queue.deliver(content);
      if (prompt === null) return;
      this.#events.release();
      this.#addSaid(prompt.said, prompt.stamp, true);
    }
  }

  /** `content` is what they were read from: a message of another agent is known by it in the queue. */
  #addPrompts(
    said: readonly prompts.Said[],
    stamp: make.Stamp,
    { content, steering = false }: { content?: unknown; steering?: boolean } = {},
  ): void {
    const [first] = said;
    if (first === undefined) return;
    this.#events.release();
    const typed = first.from === undefined ? first.text : joinText(content);
    if (!this.#queue.recordPrompt(typed)) this.#addSaid(said, stamp, steering);
  }

  #addSaid(said: readonly prompts.Said[], stamp: make.Stamp, steering = false): void {
    for (const { text, from } of said) this.#add(...make.prompt(stamp, text, { from, steering }));
  }

  #addCompaction(stamp: make.Stamp, summary: string | null): void {
    this.#events.release();
    this.#events.add(make.compaction(this.#state.boundary ?? stamp, summary));
    this.#state.boundary = null;
  }

  /** A summary follows its boundary directly or not at all. */
  #closeBoundary(): void {
    if (this.#state.boundary !== null) this.#addCompaction(this.#state.boundary, null);
  }

  #addPlan(plan: PlanItem[] | null, stamp: make.Stamp): void {
    if (plan !== null) this.#add(make.plan(stamp, plan));
  }

  #add(...events: Event[]): void {
    if (events.length > 0) this.#closeBoundary();
    for (const event of events) this.#events.add(event);
  }
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Nearly all times already have the form that events need. */
function readTime(value: unknown): string | null {
  const isReady = typeof value === 'string' && TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value));
  return isReady ? value : toTimestamp(value);
}

function describeApiError(row: Row): string {
  const error = getRow(row, 'error');
  const inner = getRow(getRow(error, 'error'), 'error');
  const status = getNumber(error, 'status');
  const text = getText(inner, 'message') ?? getText(error, 'message') ?? getText(row, 'content') ?? 'API error';
  return status === null ? text : `${status} ${text}`;
}
