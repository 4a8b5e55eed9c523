import type { Event } from '../../model/event.ts';
import type { FoundSession, Reading } from '../agent.ts';
import {
  describeGeminiCall,
  isPlanTool,
  readGivenAnswers,
  readPlan,
  readShellOutput,
  refineWrite,
} from '../gemini-tools.ts';
import { countUnknown, EMPTY_ROW, getNumber, getRow, getRows, getText, type Row } from '../json.ts';
import type { NumberedRow } from '../json-lines.ts';
import {
  makeCall,
  makeCompaction,
  makeInjected,
  makeLimit,
  makePlan,
  makePrompt,
  makeReply,
  makeResult,
  makeStamp,
  type Stamp,
  toTimestamp,
} from '../make-events.ts';
import { isOurBrief } from '../message-text.ts';
import { PendingEvents, type PendingState, startPending } from '../pending-events.ts';
import { TouchedFiles } from '../touched-files.ts';
import { isSubAgentFile } from './places.ts';
import { readHumanRow, readTexts } from './rows.ts';

interface OpenCall {
  tool: string;
  input: Row;
}

/** All that is remembered of the rows of a conversation. */
export interface ConversationState {
  outbox: PendingState;
  files: Set<string>;
  calls: Map<string, OpenCall>;
  cwd: string | null;
  /** A slash command whose expansion comes as the next row of type `user`. */
  expanding: string | null;
  lastLimit: string | null;
}

export function startConversation(cwd: string | null): ConversationState {
  return {
    outbox: startPending(),
    files: new Set(),
    calls: new Map(),
    cwd,
    expanding: null,
    lastLimit: null,
  };
}

/** A conversation as its rows are read, one after the other. */
export class Conversation {
  readonly #state: ConversationState;
  readonly #reading: Reading;
  readonly #isSubAgent: boolean;
  readonly #outbox: PendingEvents;
  readonly #files: TouchedFiles;

  constructor(state: ConversationState, session: FoundSession, reading: Reading) {
    this.#state = state;
    this.#reading = reading;
    this.#isSubAgent = session.parent !== null && isSubAgentFile(session.path);
    this.#outbox = new PendingEvents(state.outbox);
    this.#files = new TouchedFiles(state.files);
  }

  read(numbered: NumberedRow): Event[] {
    for (const event of this.#readRow(numbered)) {
      if (event.type === 'prompt') this.#outbox.release();
      if (event.type === 'call' && event.tool === 'write_file') this.#outbox.addWaiting(event);
      else this.#outbox.add(event);
    }
    return this.#outbox.take();
  }

  finish(): Event[] {
    this.#outbox.release();
    return this.#outbox.take();
  }

  *#readRow({ row, line }: NumberedRow): Generator<Event> {
    this.#state.cwd = getText(row, 'cwd') || this.#state.cwd;
    this.#reading.agentVersion = getText(row, 'version') ?? this.#reading.agentVersion;
    this.#reading.sessionId = getText(row, 'sessionId') ?? this.#reading.sessionId;
    const stamp = this.#stamp(row, line);
    if (row.type === 'user') yield* this.#readUser(row, stamp);
    else if (row.type === 'assistant') yield* this.#readAssistant(row, stamp);
    else if (row.type === 'tool_result') yield* this.#readResults(row, stamp);
    else if (row.type === 'system') yield* this.#readSystem(row, stamp);
    else countUnknown(this.#reading.unknown, getText(row, 'type') ?? '(no type)');
  }

  #stamp(row: Row, line: number): Stamp {
    const branch = getText(row, 'gitBranch');
    const stamp = makeStamp({
      at: toTimestamp(row.timestamp),
      line,
      id: getText(row, 'uuid'),
      cwd: this.#state.cwd,
      model: getText(row, 'model'),
    });
    const sideline = row.isSidechain === true && !this.#isSubAgent ? { sidechain: true } : {};
    return { ...stamp, ...(branch ? { branch: branch.toWellFormed() } : {}), ...sideline };
  }

  *#readUser(row: Row, stamp: Stamp): Generator<Event> {
    for (const text of readTexts(row).slice(1)) yield* makeInjected(stamp, text);
    const expanded = this.#state.expanding;
    this.#state.expanding = null;
    if (row.isSidechain === true || this.#isSubAgent) return;
    const text = readHumanRow(row);
    const isTold = expanded !== null && (text === expanded || !isShown(row));
    if (text !== null && !isTold) yield* makePrompt(stamp, text);
  }

  *#readAssistant(row: Row, stamp: Stamp): Generator<Event> {
    for (const part of getRows(getRow(row, 'message'), 'parts')) {
      if (part.thought === true) continue;
      const text = getText(part, 'text');
      if (text !== null) yield* makeReply(stamp, text);
      const call = getRow(part, 'functionCall');
      if (call !== EMPTY_ROW) yield* this.#readCall(call, stamp);
    }
  }

  *#readCall(call: Row, stamp: Stamp): Generator<Event> {
    const id = getText(call, 'id');
    const tool = getText(call, 'name');
    if (id === null || tool === null || this.#state.calls.has(id)) return;
    const input = getRow(call, 'args');
    const isAsked = tool === 'ask_user_question';
    this.#state.calls.set(id, { tool, input: isAsked ? input : EMPTY_ROW });
    if (isPlanTool(tool)) {
      const plan = readPlan(tool, input, null);
      if (plan !== null) yield makePlan(stamp, plan);
      return;
    }
    yield makeCall(stamp, {
      id,
      tool,
      action: describeGeminiCall({ tool, input, cwd: this.#state.cwd }, this.#files),
    });
  }

  *#readResults(row: Row, stamp: Stamp): Generator<Event> {
    const detail = getRow(row, 'toolCallResult');
    for (const part of getRows(getRow(row, 'message'), 'parts')) {
      const response = getRow(part, 'functionResponse');
      const id = getText(response, 'id');
      if (id === null) continue;
      const call = this.#state.calls.get(id) ?? { tool: getText(response, 'name') ?? '', input: EMPTY_ROW };
      this.#state.calls.delete(id);
      if (!isPlanTool(call.tool)) yield* this.#readResult({ id, call, response, detail }, stamp);
    }
  }

  *#readResult(found: FoundResult, stamp: Stamp): Generator<Event> {
    const { id, call } = found;
    const { ok, exit, output } = readOutcome(found);
    this.#outbox.settle(id.toWellFormed(), (action) => {
      return refineWrite(action, output, found.detail.resultDisplay);
    });
    const isBrief = isOurBrief(output);
    yield makeResult(stamp, { id, ok, exit, output: isBrief ? '' : output });
    if (isBrief) yield* makeInjected(stamp, output);
    const answers = call.tool === 'ask_user_question' && ok ? readGivenAnswers(output, call.input) : null;
    if (answers !== null) yield* makePrompt(stamp, answers);
  }

  *#readSystem(row: Row, stamp: Stamp): Generator<Event> {
    const payload = getRow(row, 'systemPayload');
    if (row.subtype === 'chat_compression') yield makeCompaction(stamp, readSummary(payload));
    else if (row.subtype === 'slash_command') yield* this.#readCommand(payload, stamp);
    else if (row.subtype === 'turn_result')
      yield* this.#limit(getText(getRow(payload, 'error'), 'message'), stamp);
    else if (row.subtype === 'ui_telemetry')
      yield* this.#limit(readApiError(getRow(payload, 'uiEvent')), stamp);
  }

  /** Each attempt is recorded: the same error again is the same stop. */
  *#limit(text: string | null, stamp: Stamp): Generator<Event> {
    if (text === null || text === this.#state.lastLimit) return;
    this.#state.lastLimit = text;
    yield makeLimit(stamp, text);
  }

  *#readCommand(payload: Row, stamp: Stamp): Generator<Event> {
    const raw = getText(payload, 'rawCommand')?.trim() ?? '';
    if (payload.phase !== 'invocation' || payload.hiddenInvocation === true) return;
    if (payload.sentToModel === true) this.#state.expanding = raw;
    if (/^\S+\s+\S/.test(raw)) yield* makePrompt(stamp, raw);
  }
}

function isShown(row: Row): boolean {
  return getText(getRow(row, 'systemPayload'), 'displayText') !== null;
}

interface FoundResult {
  id: string;
  call: OpenCall;
  response: Row;
  detail: Row;
}

function readOutcome({ call, response, detail }: FoundResult): {
  ok: boolean;
  exit: number | null;
  output: string;
} {
  const { response: given } = response;
  const body = getRow(response, 'response');
  const text = getText(body, 'output') ?? getText(body, 'error') ?? (typeof given === 'string' ? given : '');
  const status = getText(detail, 'status');
  const isFine = status === null ? !('error' in body) : status === 'success';
  if (call.tool !== 'run_shell_command') return { ok: isFine, exit: null, output: text };
  const display = getRow(detail, 'resultDisplay');
  const framed = readShellOutput(text);
  const exit = getNumber(display, 'exitCode') ?? framed?.exit ?? null;
  const output = getText(display, 'output') ?? framed?.output ?? text;
  return { ok: isFine && (exit === null || exit === 0), exit, output };
}

function readSummary(payload: Row): string | null {
  const [first] = getRows(payload, 'compressedHistory');
  const texts = getRows(first ?? EMPTY_ROW, 'parts').flatMap((part) => getText(part, 'text') ?? []);
  return texts.length === 0 ? null : texts.join('\n').replace(CLOSING, '');
}

/** What Qwen Code says to the next model after a summary. */
const CLOSING = /\n+Resume the prior task using the summary above\.[^\n]*\s*$/;

function readApiError(event: Row): string | null {
  if (event['event.name'] !== 'qwen-code.api_error') return null;
  const text =
    getText(event, 'error_message') ??
    getText(event, 'error.message') ??
    getText(event, 'error') ??
    'API error';
  const status = getNumber(event, 'status_code');
  return status === null ? text : `${status} ${text}`;
}
