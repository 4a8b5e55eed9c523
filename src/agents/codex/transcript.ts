import type { Event } from '../../model/event.ts';
import { readLines } from '../../platform/lines.ts';
import {
  type Agent,
  countUnknown,
  countUnreadable,
  type FoundSession,
  type ReadStats,
  type Transcript,
  type TranscriptOptions,
} from '../agent.ts';
import { asRow, getRow, getText, parseRow, type Row, toTimestamp } from '../shared/json.ts';
import * as make from '../shared/make-events.ts';
import { isOurBrief, listTexts, toMessageText } from '../shared/message-text.ts';
import { sortResults } from '../shared/result-order.ts';
import { openRows, type RowFormat } from '../shared/transcript.ts';
import * as history from './history.ts';
import { canSkipRow, findHumanText, isWithoutEvents, type RowKind, readKind } from './rows.ts';
import { findSessions, inspectFile, listTranscripts, toMeta } from './sessions.ts';
import { type CallsState, findCallId, readSearch, ToolCalls } from './tool-calls.ts';

const sessions = { findSessions, listTranscripts, inspectFile };

export const codexAgent: Agent = {
  name: 'codex',
  ...sessions,
  readEvents: (session, stats) => sortResults(readEvents(session, stats)),
  openTranscript,
};

const BLANK = /^\s*$/;

/** A session can consist of several files, some of them compressed. */
function* readEvents(session: FoundSession, stats: ReadStats): Generator<Event> {
  const files = history.findHistory(session.path);
  const survey = history.surveyLines(history.readHistory(files, () => undefined));
  const reader = new RolloutReader(startState(survey), session, stats);
  const isDead = history.makeRangeTest(survey.dead);
  if (files.incomplete) countUnknown(stats, 'history_base');
  for (const { bytes, number, closed, index } of history.readHistory(files, () => countUnreadable(stats))) {
    if (bytes.length < 64 && BLANK.test(bytes.toString('latin1'))) continue;
    const canSkip = closed && canSkipRow(bytes);
    const row = canSkip ? null : parseRow(bytes.toString('utf8'));
    if (row === null && !closed) continue;
    stats.rows++;
    if (row === null && !canSkip) stats.unreadable++;
    if (row === null || isDead(index)) continue;
    const kind = readKind(row);
    if (!isWithoutEvents(kind)) yield* reader.read(row, kind, number);
  }
}

/** For sessions in one file. */
const format: RowFormat<State> = {
  start: () => startState(history.startSurvey()),
  lookAhead: ({ path }, until) => startState(history.surveyLines(numberLines(path, until))),
  needsLookAhead: true,
  openReader: ({ state, session, stats, knowsAll }) => {
    const reader = new RolloutReader(state, session, stats);
    const isDead = history.makeRangeTest(state.survey.dead);
    return {
      read: ({ row, line }) => {
        const kind = readKind(row);
        if (!knowsAll && history.contradictsSurvey(kind, state.survey)) return null;
        return isWithoutEvents(kind) || isDead(line) ? [] : reader.read(row, kind, line);
      },
    };
  },
  shortcuts: () => ({ canSkip: canSkipRow }),
};

function* numberLines(path: string, until: number): Generator<{ bytes: Buffer; index: number }> {
  for (const { bytes, number } of readLines(path, { until })) yield { bytes, index: number };
}

function openTranscript(options: TranscriptOptions): Transcript | null {
  const { path } = options.session;
  const { segments, incomplete } = history.findHistory(path);
  const isOneFile = segments.length === 1 && !incomplete && !path.endsWith('.zst');
  return isOneFile ? openRows(format, options) : null;
}

/** What is remembered between rows. It is saved with a bookmark: its fields are a format on disk. */
interface State extends CallsState {
  survey: history.RolloutSurvey;
  cwd: string | null;
  branch: string | null;
  model: string | null;
  lastLimit: string | null;
  /** Whether a turn has begun that is not over, and whether its request was said. Older versions do not record turns. */
  turn: 'begun' | 'asked' | null;
}

function startState(survey: history.RolloutSurvey): State {
  const calls = { open: new Map(), running: new Map(), files: new Set<string>() };
  return { ...calls, survey, cwd: null, branch: null, model: null, lastLimit: null, turn: null };
}

const SUMMARY_PREAMBLE = /^Another language model started to solve this problem[^\n]*\n/;

/** Types of rows that must have a payload. */
const READ_TYPES = new Set(['session_meta', 'turn_context', 'compacted', 'response_item', 'event_msg']);

class RolloutReader {
  readonly #state: State;
  readonly #stats: ReadStats;
  readonly #isSubAgent: boolean;
  readonly #calls: ToolCalls;
  #line = 0;

  constructor(state: State, session: FoundSession, stats: ReadStats) {
    this.#state = state;
    this.#stats = stats;
    this.#isSubAgent = session.parent !== null;
    this.#calls = new ToolCalls(state);
  }

  *read(row: Row, { type, kind, item }: RowKind, line: number): Generator<Event> {
    this.#line = line;
    const payload = asRow(row.payload);
    if (payload === null && (type === '' || READ_TYPES.has(type))) this.#stats.unreadable++;
    else if (payload === null) countUnknown(this.#stats, type);
    else if (type === 'session_meta') this.#readMeta(payload);
    else if (type === 'turn_context') {
      this.#state.cwd = getText(payload, 'cwd') ?? this.#state.cwd;
      this.#state.model = getText(payload, 'model') ?? this.#state.model;
    } else if (type === 'compacted') {
      yield make.compaction(this.#stamp(row, null), (getText(payload, 'message') ?? '').replace(SUMMARY_PREAMBLE, ''));
    } else if (type === 'response_item') yield* this.#readResponse(row, payload, kind);
    else if (type !== 'event_msg') countUnknown(this.#stats, type);
    else if (kind === 'item_completed') yield* this.#readItem(row, getRow(payload, 'item'), item);
    else yield* this.#readEvent(row, payload, kind);
  }

  /** Only the first row of a file is its own; others were copied with the history of another session. */
  #readMeta(payload: Row): void {
    if (this.#line !== 1) return;
    const { cwd, branch, version } = toMeta(payload);
    this.#state.cwd = cwd ?? this.#state.cwd;
    this.#state.branch = branch ?? this.#state.branch;
    this.#stats.agentVersion = version ?? this.#stats.agentVersion;
  }

  #stamp(row: Row, id: string | null): make.Stamp {
    const { cwd, model, branch } = this.#state;
    return make.stamp({ at: toTimestamp(row.timestamp), line: this.#line, id, cwd, model, branch });
  }

  #readEvent(row: Row, payload: Row, kind: string): Iterable<Event> {
    const id = findCallId(payload);
    const stamp = this.#stamp(row, id);
    const message = getText(payload, 'message');
    switch (kind) {
      case 'user_message':
        return this.#readPrompt(stamp, message ?? '');
      case 'agent_message':
        return make.reply(stamp, message ?? '', isInterim(payload));
      case 'patch_apply_end':
        return this.#calls.readPatch(stamp, payload, id);
      case 'mcp_tool_call_end': {
        const result = getRow(payload, 'result');
        this.#calls.noteOutcome(id, result.Err === undefined && !isToolError(getRow(result, 'Ok')));
        return [];
      }
      case 'token_count':
        return this.#readLimit(stamp, getRow(payload, 'rate_limits'));
      case 'task_started':
      case 'turn_started':
        this.#state.turn = 'begun';
        return [];
      case 'task_complete':
      case 'turn_complete':
        this.#state.turn = null;
        return [];
      case 'turn_aborted':
        this.#state.turn = null;
        // A turn is also aborted when another takes its place, or a review ends.
        return (getText(payload, 'reason') ?? 'interrupted') === 'interrupted' ? [make.interruption(stamp)] : [];
      case 'error':
      case 'stream_error':
        return [make.limit(stamp, message ?? kind)];
      default:
        return this.#countUnknown(`event_msg/${kind}`);
    }
  }

  #readItem(row: Row, item: Row, kind: string): Iterable<Event> {
    const id = getText(item, 'id');
    const stamp = this.#stamp(row, id);
    switch (kind) {
      case 'UserMessage':
        return this.#readPrompt(stamp, listTexts(item.content).join(''));
      case 'AgentMessage':
        return make.reply(stamp, listTexts(item.content).join(''), isInterim(item));
      case 'Plan': {
        const text = toMessageText(getText(item, 'text') ?? '');
        return id === null ? [] : [make.call(stamp, { id, tool: 'Plan', action: { kind: 'propose', text } })];
      }
      case 'CommandExecution':
        return this.#calls.readExecution(stamp, item, id);
      case 'FileChange':
        return this.#calls.readPatch(stamp, item, id);
      case 'McpToolCall':
        this.#calls.noteOutcome(id, item.status !== 'failed' && !isToolError(getRow(item, 'result')));
        return [];
      default:
        return this.#countUnknown(`item/${kind}`);
    }
  }

  #readResponse(row: Row, payload: Row, kind: string): Iterable<Event> {
    const stamp = this.#stamp(row, getText(payload, 'id') ?? findCallId(payload));
    switch (kind) {
      case 'message':
        return this.#readMessage(stamp, payload);
      case 'function_call':
      case 'custom_tool_call':
      case 'local_shell_call':
        return this.#calls.readCall(stamp, payload);
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.#calls.readOutput(stamp, payload);
      case 'web_search_call':
        return readSearch(stamp, payload);
      default:
        return this.#countUnknown(`response_item/${kind}`);
    }
  }

  #countUnknown(kind: string): [] {
    countUnknown(this.#stats, kind);
    return [];
  }

  *#readMessage(stamp: make.Stamp, payload: Row): Generator<Event> {
    const { hasPrompts, hasReplies } = this.#state.survey;
    const texts = listTexts(payload.content);
    if (payload.role === 'developer') {
      for (const text of texts) yield* make.injected(stamp, text);
    } else if (payload.role === 'assistant') {
      if (!hasReplies) yield* make.reply(stamp, texts.join('\n'), isInterim(payload));
    } else if (payload.role === 'user' && !hasPrompts) {
      const kinds = getRow(payload, 'internal_chat_message_metadata_passthrough').content_item_kinds;
      const said = texts.filter((_, index) => !Array.isArray(kinds) || kinds[index] === 'user.text');
      for (const text of said) yield* this.#readPrompt(stamp, text);
    }
  }

  /** Prompts of sub-agents come from an agent. */
  *#readPrompt(stamp: make.Stamp, text: string): Generator<Event> {
    const said = findHumanText(text);
    if (said === null || (this.#isSubAgent && !isOurBrief(said))) return;
    yield* make.prompt(stamp, said, { steering: this.#state.turn === 'asked' });
    if (this.#state.turn === 'begun') this.#state.turn = 'asked';
  }

  /** The same limit is reported again with every reply while it lasts. */
  *#readLimit(stamp: make.Stamp, limits: Row): Generator<Event> {
    const reached = getText(limits, 'rate_limit_reached_type');
    if (reached !== null && reached !== this.#state.lastLimit) yield make.limit(stamp, reached);
    this.#state.lastLimit = reached;
  }
}

/** Newer versions mark what the agent says on the way, and its answer. */
function isInterim(message: Row): boolean {
  return message.phase === 'commentary';
}

function isToolError(result: Row): boolean {
  return result.isError === true || result.is_error === true;
}
