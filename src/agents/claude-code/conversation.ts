import type { Event, PlanItem } from '../../model/event.ts';
import type { Reading } from '../agent.ts';
import {
  asRow,
  countUnknown,
  EMPTY_ROW,
  getNumber,
  getRow,
  getText,
  type Row,
  toRows,
} from '../shared/json.ts';
import type { NumberedRow } from '../shared/json-lines.ts';
import {
  makeCall,
  makeCompaction,
  makeInjected,
  makeLimit,
  makePlan,
  makePrompt,
  makeReply,
  makeResult,
  type Stamp,
  toTimestamp,
} from '../shared/make-events.ts';
import { isOurBrief } from '../shared/message-text.ts';
import { PendingEvents } from '../shared/pending-events.ts';
import { TouchedFiles } from '../shared/touched-files.ts';
import type { ReaderOptions, RowReader } from '../shared/transcript.ts';
import { describeCall, isToldByResult, refineAction } from './actions.ts';
import { isPlanTool, readTodos, TaskPlan } from './plan.ts';
import {
  isHumanOrigin,
  isSummaryRow,
  readAnswers,
  readHumanContent,
  readHumanRow,
  readRejection,
  saysHuman,
} from './prompts.ts';
import { PromptQueue } from './queue.ts';
import { readContentText, readNotification, readOutcome } from './results.ts';
import { isDead, meetPrompt } from './rewound.ts';
import { isKnownType, isSilentBlock } from './rows.ts';
import { meetRow, packSeen } from './seen-rows.ts';
import type { ConversationState } from './state.ts';
import { readSummaryText } from './summary.ts';

/** A conversation as its rows are read, one after the other. */
export class Conversation implements RowReader {
  readonly #state: ConversationState;
  readonly #reading: Reading;
  readonly #knowsAll: boolean;
  /** In a sub-agent's own file its rows are the main line. */
  readonly #isSubAgent: boolean;
  readonly #outbox: PendingEvents;
  readonly #queue: PromptQueue;
  readonly #tasks: TaskPlan;
  readonly #files: TouchedFiles;

  constructor({ state, session, reading, knowsAll }: ReaderOptions<ConversationState>) {
    this.#state = state;
    this.#reading = reading;
    this.#knowsAll = knowsAll;
    this.#isSubAgent = session.parent !== null;
    this.#outbox = new PendingEvents(state.outbox);
    this.#queue = new PromptQueue(state.queue);
    this.#tasks = new TaskPlan(state.tasks);
    this.#files = new TouchedFiles(state.files);
  }

  read({ row, line }: NumberedRow): Event[] | null {
    const { rewound, seen } = this.#state;
    const taken = this.#knowsAll ? null : meetPrompt(row, rewound);
    if (taken !== null && !rewound.taken.has(taken)) return null;
    if (isDead(row, rewound)) return [];
    const uuid = getText(row, 'uuid');
    const isSeen = uuid !== null && meetRow(seen, uuid);
    if (isSeen !== false) return isSeen === true ? [] : null;
    this.#note(row);
    this.#readRow(row, this.#stamp(row, line));
    return this.#outbox.take();
  }

  keep(): ConversationState {
    return { ...this.#state, seen: packSeen(this.#state.seen) };
  }

  finish(): Event[] {
    this.#closeBoundary();
    for (const { text, stamp } of this.#queue.listWaiting()) this.#tell(...makePrompt(stamp, text));
    this.#outbox.release();
    return this.#outbox.take();
  }

  #note(row: Row): void {
    this.#state.cwd = getText(row, 'cwd') || getText(row, 'relocatedCwd') || this.#state.cwd;
    this.#state.branch = getText(row, 'gitBranch') ?? this.#state.branch;
    this.#reading.agentVersion = getText(row, 'version') ?? this.#reading.agentVersion;
    this.#reading.sessionId = getText(row, 'sessionId') ?? this.#reading.sessionId;
  }

  #stamp(row: Row, line: number): Stamp & { sidechain?: true } {
    const id = getText(row, 'uuid');
    return {
      at: readTime(row.timestamp),
      ref: { line, id: id === null ? null : id.toWellFormed() },
      ...(this.#state.cwd ? { cwd: this.#state.cwd.toWellFormed() } : {}),
      ...(this.#state.branch ? { branch: this.#state.branch.toWellFormed() } : {}),
      ...(this.#isSideline(row) ? { sidechain: true } : {}),
    };
  }

  #isSideline(row: Row): boolean {
    return row.isSidechain === true && !this.#isSubAgent;
  }

  #readRow(row: Row, stamp: Stamp): void {
    const type = getText(row, 'type') ?? '(no type)';
    if (type === 'user') this.#readUser(row, stamp);
    else if (type === 'assistant') this.#readAssistant(row, stamp);
    else if (type === 'system') this.#readSystem(row, stamp);
    else if (type === 'attachment') this.#readAttachment(getRow(row, 'attachment'), stamp);
    else if (type === 'queue-operation') this.#readQueue(row, stamp);
    else if (!isKnownType(type)) countUnknown(this.#reading.unknown, type);
  }

  #readUser(row: Row, stamp: Stamp): void {
    const { content } = getRow(row, 'message');
    if (isSummaryRow(row)) {
      this.#summarise(stamp, readSummaryText(readContentText(content)) || null);
      return;
    }
    const results = toRows(content).filter((block) => block.type === 'tool_result');
    const data = results.length === 1 ? (asRow(row.toolUseResult) ?? EMPTY_ROW) : EMPTY_ROW;
    for (const block of results) this.#readResult(block, data, stamp);
    const notification = readNotification(content);
    if (notification !== null) this.#tell(makeResult(stamp, { id: notification.call, ...notification }));
    if (row.isSidechain === true && !saysHuman(row)) return;
    const text = readHumanRow(row);
    if (text !== null) this.#prompt(text, stamp);
  }

  #prompt(text: string, stamp: Stamp): void {
    this.#outbox.release();
    if (!this.#queue.meet(text)) this.#tell(...makePrompt(stamp, text));
  }

  #readResult(block: Row, data: Row, stamp: Stamp): void {
    const id = getText(block, 'tool_use_id');
    if (id === null) return;
    const text = readContentText(block.content);
    const call = this.#state.calls.get(id);
    this.#state.calls.delete(id);
    if (call !== undefined && isPlanTool(call.tool)) {
      const plan = block.is_error === true ? null : this.#tasks.apply(call.tool, call.input, { text, data });
      this.#tellPlan(plan, stamp);
      return;
    }
    this.#outbox.settle(id.toWellFormed(), (action) => refineAction(action, data, text));
    this.#tellOutcome(id, readOutcome(block, text, data), stamp);
    const said = call?.tool === 'AskUserQuestion' && block.is_error !== true ? readAnswers(text, data) : null;
    const answer = said ?? readRejection(text);
    if (answer !== null) this.#prompt(answer, stamp);
  }

  /** A brief that a tool gave back has been told with this: it is not the outcome of any work. */
  #tellOutcome(id: string, outcome: ReturnType<typeof readOutcome>, stamp: Stamp): void {
    const isBrief = isOurBrief(outcome.output);
    this.#tell(makeResult(stamp, { id, ...outcome, output: isBrief ? '' : outcome.output }));
    if (isBrief) this.#tell(...makeInjected(stamp, outcome.output));
  }

  #readAssistant(row: Row, place: Stamp): void {
    const message = getRow(row, 'message');
    const model = getText(message, 'model');
    const isSynthetic = model === '<synthetic>';
    const stamp = model === null || isSynthetic ? place : { ...place, model: model.toWellFormed() };
    this.#enterMessage(getText(message, 'id'));
    const blocks =
      typeof message.content === 'string'
        ? [{ type: 'text', text: message.content }]
        : toRows(message.content);
    for (const block of blocks) {
      if (block.type === 'tool_use') this.#readCall(block, stamp);
      else if (block.type === 'text') {
        const text = getText(block, 'text') ?? '';
        if (row.isApiErrorMessage === true) this.#tell(makeLimit(stamp, text));
        else if (!isSynthetic && this.#isNewText(text)) this.#tell(...makeReply(stamp, text));
      } else this.#countBlock(block);
    }
  }

  #countBlock(block: Row): void {
    const type = getText(block, 'type') ?? '(no type)';
    if (!isSilentBlock(type)) countUnknown(this.#reading.unknown, `assistant/${type}`);
  }

  /** One message comes in several rows, a block each, and a block may come twice. */
  #enterMessage(id: string | null): void {
    if (id === null || id !== this.#state.message.id) this.#state.message = { id, texts: new Set() };
  }

  #isNewText(text: string): boolean {
    const isNew = !this.#state.message.texts.has(text);
    this.#state.message.texts.add(text);
    return isNew;
  }

  #readCall(block: Row, stamp: Stamp): void {
    const id = getText(block, 'id');
    const tool = getText(block, 'name');
    if (id === null || tool === null || this.#state.calls.has(id)) return;
    const input = getRow(block, 'input');
    this.#state.calls.set(id, { tool, input: isPlanTool(tool) ? input : EMPTY_ROW });
    if (tool === 'TodoWrite') this.#tell(makePlan(stamp, readTodos(input)));
    if (isPlanTool(tool)) return;
    const action = describeCall({ tool, input, cwd: this.#state.cwd }, this.#files);
    const event = makeCall(stamp, { id, tool, action });
    this.#closeBoundary();
    if (event.type === 'call' && isToldByResult(tool)) this.#outbox.addWaiting(event);
    else this.#outbox.add(event);
  }

  #readSystem(row: Row, stamp: Stamp): void {
    if (row.subtype === 'compact_boundary') {
      this.#closeBoundary();
      this.#state.boundary = stamp;
    } else if (row.subtype === 'api_error' && !isRetried(row)) {
      this.#tell(makeLimit(stamp, describeApiError(row)));
    }
  }

  #readAttachment(attachment: Row, stamp: Stamp): void {
    const { type, content } = attachment;
    if (type === 'queued_command') this.#readQueued(attachment, stamp);
    else if (type === 'task_reminder') this.#tellPlan(this.#tasks.meet(content), stamp);
    else {
      for (const text of Array.isArray(content) ? content : [content]) {
        if (typeof text === 'string') this.#tell(...makeInjected(stamp, text));
      }
    }
  }

  #readQueued(attachment: Row, stamp: Stamp): void {
    const notification = readNotification(attachment.prompt);
    if (notification !== null) this.#tell(makeResult(stamp, { id: notification.call, ...notification }));
    const mode = getText(attachment, 'commandMode') ?? 'prompt';
    if (mode !== 'prompt' || attachment.isMeta === true || !isHumanOrigin(attachment)) return;
    const text = readHumanContent(attachment.prompt);
    if (text !== null) this.#prompt(text, stamp);
  }

  #readQueue(row: Row, stamp: Stamp): void {
    const content = getText(row, 'content');
    switch (row.operation) {
      case 'enqueue':
        if (content !== null) this.#queue.enter(content, stamp);
        return;
      case 'remove': {
        const prompt = this.#queue.deliver(content);
        if (prompt === null) return;
        this.#outbox.release();
        this.#tell(...makePrompt(prompt.stamp, prompt.text));
        return;
      }
      case 'dequeue':
        this.#queue.leave(content);
        return;
      case 'popAll':
        this.#queue.clear();
    }
  }

  #summarise(stamp: Stamp, summary: string | null): void {
    this.#outbox.release();
    const place = this.#state.boundary ?? stamp;
    this.#state.boundary = null;
    this.#outbox.add(makeCompaction(place, summary));
  }

  /** The summary stands right behind the boundary, if there is one. */
  #closeBoundary(): void {
    if (this.#state.boundary !== null) this.#summarise(this.#state.boundary, null);
  }

  #tellPlan(plan: PlanItem[] | null, stamp: Stamp): void {
    if (plan !== null) this.#tell(makePlan(stamp, plan));
  }

  #tell(...events: Event[]): void {
    if (events.length > 0) this.#closeBoundary();
    for (const event of events) this.#outbox.add(event);
  }
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Rows have their times in the one form in which times are kept: nearly all of them can stay as they are. */
function readTime(value: unknown): string | null {
  const isKept = typeof value === 'string' && TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value));
  return isKept ? value : toTimestamp(value);
}

/** An error after which Claude Code tries again by itself has not stopped anything. The last one is told as a message. */
function isRetried(row: Row): boolean {
  return getNumber(row, 'retryAttempt') !== null;
}

function describeApiError(row: Row): string {
  const error = getRow(row, 'error');
  const inner = getRow(getRow(error, 'error'), 'error');
  const status = getNumber(error, 'status');
  const text =
    getText(inner, 'message') ?? getText(error, 'message') ?? getText(row, 'content') ?? 'API error';
  return status === null ? text : `${status} ${text}`;
}
