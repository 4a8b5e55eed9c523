import type { Event } from '../../model/event.ts';
import { readLines } from '../../platform/lines.ts';
import { countUnknown, type FoundSession, type ReadStats } from '../agent.ts';
import { TouchedFiles } from '../shared/files.ts';
import * as gemini from '../shared/gemini-tools.ts';
import { getNumber, getRow, getText, parseRow, type Row, toRows, toTimestamp } from '../shared/json.ts';
import { peekText, toKey } from '../shared/json-lines.ts';
import * as make from '../shared/make-events.ts';
import { listBlockTexts } from '../shared/message-text.ts';
import { PendingEvents, type PendingState, startPending, takeCall } from '../shared/pending-events.ts';
import { makeRowAgent, type RowFormat } from '../shared/transcript.ts';
import { inspectFile, isSubAgentFile, listTranscripts, readHuman, readTexts } from './sessions.ts';

/** Saved in the transcript checkpoint. */
interface ChatState {
  pending: PendingState;
  files: Set<string>;
  calls: Map<string, gemini.OpenCall>;
  cwd: string | null;
  /** A slash command whose expansion comes as the next row of type `user`. */
  expanding: string | null;
  lastLimit: string | null;
  dead: DeadLines[];
}

function startState(cwd: string | null, dead: DeadLines[]): ChatState {
  const empty = { pending: startPending(), files: new Set<string>(), calls: new Map<string, gemini.OpenCall>() };
  return { ...empty, cwd, expanding: null, lastLimit: null, dead };
}

const format: RowFormat<ChatState> = {
  start: ({ cwd }) => startState(cwd, []),
  lookAhead: ({ cwd, path }, until) => startState(cwd, findDeadLines(path, until)),
  recordsBranch: true,
  openReader: ({ state, session, stats, knowsAll }) => {
    const conversation = new Conversation(state, session, stats);
    return {
      read: ({ row, line }) => {
        if (!knowsAll && isRewind(row)) return null;
        const isDead = state.dead.some(({ after, before }) => line > after && line < before);
        return isDead ? [] : conversation.read(row, line);
      },
      finish: () => conversation.finish(),
    };
  },
  shortcuts: () => ({ canSkip: canSkipRow }),
};

export const qwenAgent = makeRowAgent({ name: 'qwen', listTranscripts, inspectFile }, format);

const TYPE = toKey('type');
const SUBTYPE = toKey('subtype');
const API_ERROR = Buffer.from('api_error');

/** System rows about what happened; all others are for Qwen Code itself. */
const EVENT_SUBTYPES = new Set('chat_compression slash_command turn_result ui_telemetry rewind'.split(' '));

/** Type and subtype come first in a row, before any text that could contain the same keys. */
function canSkipRow(bytes: Buffer): boolean {
  if (peekText(bytes, TYPE) !== 'system') return false;
  const subtype = peekText(bytes, SUBTYPE);
  if (subtype === 'ui_telemetry') return !bytes.includes(API_ERROR);
  return subtype !== '' && !EVENT_SUBTYPES.has(subtype);
}

/** Turns the rows of a conversation into events, one after the other. */
class Conversation {
  readonly #state: ChatState;
  readonly #stats: ReadStats;
  readonly #isSubAgent: boolean;
  readonly #pending: PendingEvents;
  readonly #files: TouchedFiles;

  constructor(state: ChatState, session: FoundSession, stats: ReadStats) {
    this.#state = state;
    this.#stats = stats;
    this.#isSubAgent = session.parent !== null && isSubAgentFile(session.path);
    this.#pending = new PendingEvents(state.pending);
    this.#files = new TouchedFiles(state.files);
  }

  read(row: Row, line: number): Event[] {
    for (const event of this.#readRow(row, line)) {
      if (event.type === 'prompt') this.#pending.release();
      if (event.type === 'call' && event.tool === 'write_file') this.#pending.addWaiting(event);
      else this.#pending.add(event);
    }
    return this.#pending.take();
  }

  finish(): Event[] {
    this.#pending.release();
    return this.#pending.take();
  }

  *#readRow(row: Row, line: number): Generator<Event> {
    this.#state.cwd = getText(row, 'cwd') || this.#state.cwd;
    this.#stats.agentVersion = getText(row, 'version') ?? this.#stats.agentVersion;
    const stamp = this.#stamp(row, line);
    if (row.type === 'user') yield* this.#readUser(row, stamp);
    else if (row.type === 'assistant') yield* this.#readAssistant(row, stamp);
    else if (row.type === 'tool_result') yield* this.#readResults(row, stamp);
    else if (row.type === 'system') yield* this.#readSystem(row, stamp);
    else countUnknown(this.#stats, getText(row, 'type') ?? '(no type)');
  }

  #stamp(row: Row, line: number): make.Stamp {
    const { cwd } = this.#state;
    const [id, model, branch] = [getText(row, 'uuid'), getText(row, 'model'), getText(row, 'gitBranch')];
    const stamp = make.stamp({ at: toTimestamp(row.timestamp), line, id, cwd, model, branch });
    return { ...stamp, ...(row.isSidechain === true && !this.#isSubAgent && { sidechain: true }) };
  }

  *#readUser(row: Row, stamp: make.Stamp): Generator<Event> {
    for (const text of readTexts(row).slice(1)) yield* make.injected(stamp, text);
    const expanded = this.#state.expanding;
    this.#state.expanding = null;
    if (row.isSidechain === true || this.#isSubAgent) return;
    const text = readHuman(row);
    const isShown = getText(getRow(row, 'systemPayload'), 'displayText') !== null;
    const isRepeated = expanded !== null && (text === expanded || !isShown);
    if (text !== null && !isRepeated) yield* make.prompt(stamp, text);
  }

  *#readAssistant(row: Row, stamp: make.Stamp): Generator<Event> {
    for (const part of toRows(getRow(row, 'message').parts)) {
      const text = getText(part, 'text');
      if (part.thought === true) {
        yield* make.thought(stamp, text ?? '');
        continue;
      }
      if (text !== null) yield* make.reply(stamp, text);
      yield* this.#readCall(getRow(part, 'functionCall'), stamp);
    }
  }

  *#readCall(call: Row, stamp: make.Stamp): Generator<Event> {
    const id = getText(call, 'id');
    const tool = getText(call, 'name');
    if (id === null || tool === null || this.#state.calls.has(id)) return;
    const input = getRow(call, 'args');
    this.#state.calls.set(id, gemini.toOpenCall(tool, input));
    yield* gemini.makeToolCall(stamp, { id, tool, input, cwd: this.#state.cwd }, this.#files);
  }

  *#readResults(row: Row, stamp: make.Stamp): Generator<Event> {
    const detail = getRow(row, 'toolCallResult');
    for (const part of toRows(getRow(row, 'message').parts)) {
      const response = getRow(part, 'functionResponse');
      const id = getText(response, 'id');
      if (id === null) continue;
      const call = takeCall(this.#state.calls, id) ?? { tool: getText(response, 'name') ?? '', input: {} };
      const outcome = readOutcome(call, response, detail);
      this.#pending.settle(id.toWellFormed(), (action) =>
        gemini.refineWrite(action, outcome.output, detail.resultDisplay),
      );
      yield* gemini.makeToolResult(stamp, call, { id, ...outcome });
    }
  }

  *#readSystem(row: Row, stamp: make.Stamp): Generator<Event> {
    const { subtype } = row;
    const payload = getRow(row, 'systemPayload');
    if (subtype === 'chat_compression') yield make.compaction(stamp, readSummary(payload));
    else if (subtype === 'slash_command') yield* this.#readCommand(payload, stamp);
    else if (subtype === 'turn_result') yield* this.#limit(getText(getRow(payload, 'error'), 'message'), stamp);
    else if (subtype === 'ui_telemetry') yield* this.#limit(readApiError(getRow(payload, 'uiEvent')), stamp);
  }

  /** Each retry is recorded: the same error again is not a new event. */
  *#limit(text: string | null, stamp: make.Stamp): Generator<Event> {
    if (text === null || text === this.#state.lastLimit) return;
    this.#state.lastLimit = text;
    yield make.limit(stamp, text);
  }

  *#readCommand(payload: Row, stamp: make.Stamp): Generator<Event> {
    const raw = getText(payload, 'rawCommand')?.trim() ?? '';
    if (payload.phase !== 'invocation' || payload.hiddenInvocation === true) return;
    if (payload.sentToModel === true) this.#state.expanding = raw;
    if (/^\S+\s+\S/.test(raw)) yield* make.prompt(stamp, raw);
  }
}

function readOutcome(call: gemini.OpenCall, response: Row, detail: Row): Omit<make.CallOutcome, 'id'> {
  const body = getRow(response, 'response');
  const text = getText(body, 'output', 'error') ?? getText(response, 'response') ?? '';
  const status = getText(detail, 'status');
  const isFine = status === null ? !('error' in body) : status === 'success';
  if (call.tool !== 'run_shell_command') return { ok: isFine, exit: null, output: text };
  const display = getRow(detail, 'resultDisplay');
  const framed = gemini.readShellOutput(text);
  const exit = getNumber(display, 'exitCode') ?? framed?.exit ?? null;
  const output = getText(display, 'output') ?? framed?.output ?? text;
  return { ok: isFine && (exit === null || exit === 0), exit, output };
}

function readSummary(payload: Row): string | null {
  const [first = {}] = toRows(payload.compressedHistory);
  const texts = listBlockTexts(first.parts);
  return texts.length === 0 ? null : texts.join('\n').replace(CLOSING, '');
}

/** What Qwen Code says to the next model after a summary. */
const CLOSING = /\n+Resume the prior task using the summary above\.[^\n]*\s*$/;

function readApiError(event: Row): string | null {
  if (event['event.name'] !== 'qwen-code.api_error') return null;
  const text = getText(event, 'error_message', 'error.message', 'error') ?? 'API error';
  const status = getNumber(event, 'status_code');
  return status === null ? text : `${status} ${text}`;
}

const REWIND = Buffer.from('"subtype":"rewind"');
const UUID = toKey('uuid');

/** `after` is the last line that counts again; 0 for none. */
type DeadLines = { after: number; before: number };

/** The lines that were rewound: those between a `rewind` row and its parent, the row that was gone back to. */
function findDeadLines(path: string, until: number): DeadLines[] {
  const rewinds: { to: string | null; line: number }[] = [];
  for (const { bytes, number } of readLines(path, { until })) {
    const row = bytes.includes(REWIND) ? parseRow(bytes.toString('utf8')) : null;
    if (row === null || !isRewind(row)) continue;
    const { parentUuid } = row;
    if (parentUuid === null || typeof parentUuid === 'string') rewinds.push({ to: parentUuid, line: number });
  }
  if (rewinds.length === 0) return [];
  const targets = new Set(rewinds.map(({ to }) => to));
  const lines = new Map<string, number>();
  for (const { bytes, number } of readLines(path, { until })) {
    const uuid = peekText(bytes, UUID);
    if (targets.has(uuid) && !lines.has(uuid)) lines.set(uuid, number);
  }
  return rewinds.flatMap(({ to, line }) => {
    const after = to === null ? 0 : lines.get(to);
    return after === undefined ? [] : [{ after, before: line }];
  });
}

function isRewind(row: Row): boolean {
  return row.type === 'system' && row.subtype === 'rewind';
}
