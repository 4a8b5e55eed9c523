import type { Event } from '../../model/event.ts';
import type { FoundSession, Reading } from '../agent.ts';
import { asRow, countUnknown, getRow, getText, type Row } from '../shared/json.ts';
import {
  makeCall,
  makeCompaction,
  makeInjected,
  makeLimit,
  makePrompt,
  makeReply,
  makeStamp,
  type Stamp,
  toTimestamp,
} from '../shared/make-events.ts';
import { isOurBrief, toMessageText } from '../shared/message-text.ts';
import { toMeta } from './head.ts';
import { findHumanText, joinTexts, listTexts } from './human-text.ts';
import type { CallsState } from './open-calls.ts';
import type { RowKind } from './rows.ts';
import type { Survey } from './survey.ts';
import { findCallId, ToolCalls } from './tool-calls.ts';

const SUMMARY_PREAMBLE = /^Another language model started to solve this problem[^\n]*\n/;

/** Kinds of rows that tell something, by a payload. */
const TELLING = new Set(['session_meta', 'turn_context', 'compacted', 'response_item', 'event_msg']);

/** All that is remembered of the rows of a session. */
export interface RolloutState extends CallsState {
  survey: Survey;
  cwd: string | null;
  branch: string | null;
  model: string | null;
  lastLimit: string | null;
}

export function startRollout(survey: Survey): RolloutState {
  return {
    open: new Map(),
    running: new Map(),
    survey,
    cwd: null,
    branch: null,
    model: null,
    lastLimit: null,
  };
}

/** Turns the rows of one session into events. */
export class RolloutReader {
  readonly #state: RolloutState;
  readonly #reading: Reading;
  readonly #isSubAgent: boolean;
  readonly #calls: ToolCalls;
  #line = 0;

  constructor(state: RolloutState, session: FoundSession, reading: Reading) {
    this.#state = state;
    this.#reading = reading;
    this.#isSubAgent = session.parent !== null;
    this.#calls = new ToolCalls(state);
    reading.sessionId = session.id;
  }

  *read(row: Row, kind: RowKind, line: number): Generator<Event> {
    this.#line = line;
    const payload = asRow(row.payload);
    if (payload === null) {
      if (kind.type === '' || TELLING.has(kind.type)) this.#reading.unreadable++;
      else countUnknown(this.#reading.unknown, kind.type);
      return;
    }
    switch (kind.type) {
      case 'session_meta':
        this.#readMeta(payload);
        return;
      case 'turn_context':
        this.#state.cwd = getText(payload, 'cwd') ?? this.#state.cwd;
        this.#state.model = getText(payload, 'model') ?? this.#state.model;
        return;
      case 'compacted':
        yield makeCompaction(
          this.#stamp(row, null),
          (getText(payload, 'message') ?? '').replace(SUMMARY_PREAMBLE, ''),
        );
        return;
      case 'response_item':
        yield* this.#readResponse(row, payload, kind.kind);
        return;
      case 'event_msg':
        if (kind.kind === 'item_completed') yield* this.#readItem(row, getRow(payload, 'item'), kind.item);
        else yield* this.#readEvent(row, payload, kind.kind);
        return;
      default:
        countUnknown(this.#reading.unknown, kind.type);
    }
  }

  /** The first row of a file is its own; one further down was copied with the history of another session. */
  #readMeta(payload: Row): void {
    if (this.#line !== 1) return;
    const meta = toMeta(payload);
    this.#state.cwd = meta.cwd ?? this.#state.cwd;
    this.#state.branch = meta.branch ?? this.#state.branch;
    this.#reading.agentVersion = meta.version ?? this.#reading.agentVersion;
  }

  #stamp(row: Row, id: string | null): Stamp {
    const at = toTimestamp(row.timestamp);
    const stamp = makeStamp({ at, line: this.#line, id, cwd: this.#state.cwd, model: this.#state.model });
    return this.#state.branch ? { ...stamp, branch: this.#state.branch.toWellFormed() } : stamp;
  }

  *#readEvent(row: Row, payload: Row, kind: string): Generator<Event> {
    const id = findCallId(payload);
    const stamp = this.#stamp(row, id);
    switch (kind) {
      case 'user_message':
        yield* this.#tellHuman(stamp, getText(payload, 'message') ?? '');
        return;
      case 'agent_message':
        yield* makeReply(stamp, getText(payload, 'message') ?? '');
        return;
      case 'patch_apply_end':
        yield* this.#calls.readPatch(stamp, payload, id);
        return;
      case 'mcp_tool_call_end':
        this.#calls.noteOutcome(id, !isFailure(getRow(payload, 'result')));
        return;
      case 'token_count':
        yield* this.#tellReachedLimit(stamp, getRow(payload, 'rate_limits'));
        return;
      case 'error':
      case 'stream_error':
        yield makeLimit(stamp, getText(payload, 'message') ?? kind);
        return;
      default:
        countUnknown(this.#reading.unknown, `event_msg/${kind}`);
    }
  }

  *#readItem(row: Row, item: Row, kind: string): Generator<Event> {
    const id = getText(item, 'id');
    const stamp = this.#stamp(row, id);
    switch (kind) {
      case 'UserMessage':
        yield* this.#tellHuman(stamp, joinTexts(item.content));
        return;
      case 'AgentMessage':
        yield* makeReply(stamp, joinTexts(item.content));
        return;
      case 'Plan':
        if (id !== null) {
          const text = toMessageText(getText(item, 'text') ?? '');
          yield makeCall(stamp, { id, tool: 'Plan', action: { kind: 'propose', text } });
        }
        return;
      case 'CommandExecution':
        yield* this.#calls.readExecution(stamp, item, id);
        return;
      case 'FileChange':
        yield* this.#calls.readPatch(stamp, item, id);
        return;
      case 'McpToolCall':
        this.#calls.noteOutcome(id, item.status !== 'failed' && !isToolError(getRow(item, 'result')));
        return;
      default:
        countUnknown(this.#reading.unknown, `item/${kind}`);
    }
  }

  *#readResponse(row: Row, payload: Row, kind: string): Generator<Event> {
    const stamp = this.#stamp(row, getText(payload, 'id') ?? findCallId(payload));
    switch (kind) {
      case 'message':
        yield* this.#readMessage(stamp, payload);
        return;
      case 'function_call':
      case 'custom_tool_call':
      case 'local_shell_call':
        yield* this.#calls.readCall(stamp, payload);
        return;
      case 'function_call_output':
      case 'custom_tool_call_output':
        yield* this.#calls.readOutput(stamp, payload);
        return;
      case 'web_search_call':
        yield* this.#calls.readSearch(stamp, payload);
        return;
      default:
        countUnknown(this.#reading.unknown, `response_item/${kind}`);
    }
  }

  *#readMessage(stamp: Stamp, payload: Row): Generator<Event> {
    const texts = listTexts(payload.content);
    if (payload.role === 'developer') {
      for (const text of texts) yield* makeInjected(stamp, text);
    } else if (payload.role === 'assistant') {
      if (!this.#state.survey.hasReplies) yield* makeReply(stamp, texts.join('\n'));
    } else if (payload.role === 'user' && !this.#state.survey.hasPrompts) {
      const kinds = getRow(payload, 'internal_chat_message_metadata_passthrough').content_item_kinds;
      const said = texts.filter((_, index) => !Array.isArray(kinds) || kinds[index] === 'user.text');
      for (const text of said) yield* this.#tellHuman(stamp, text);
    }
  }

  /** A sub-agent is spoken to by an agent. */
  *#tellHuman(stamp: Stamp, text: string): Generator<Event> {
    const said = findHumanText(text);
    if (said !== null && (!this.#isSubAgent || isOurBrief(said))) yield* makePrompt(stamp, said);
  }

  /** The same limit is reported with every answer while it lasts. */
  *#tellReachedLimit(stamp: Stamp, limits: Row): Generator<Event> {
    const reached = getText(limits, 'rate_limit_reached_type');
    if (reached !== null && reached !== this.#state.lastLimit) yield makeLimit(stamp, reached);
    this.#state.lastLimit = reached;
  }
}

function isToolError(result: Row): boolean {
  return result.isError === true || result.is_error === true;
}

function isFailure(result: Row): boolean {
  return result.Err !== undefined || isToolError(getRow(result, 'Ok'));
}
