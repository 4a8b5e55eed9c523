import type { Action, Event, PlanItem } from '../../model/event.ts';
import { readLines } from '../../platform/lines.ts';
import { countUnknown, type ReadStats } from '../agent.ts';
import { parseInput } from '../shared/actions.ts';
import { TouchedFiles } from '../shared/files.ts';
import { asRow, getNumber, getRow, getText, parseRow, type Row, toTimestamp } from '../shared/json.ts';
import * as make from '../shared/make-events.ts';
import { describeMcpFileCall } from '../shared/mcp-files.ts';
import { listBlockTexts, mayHoldBrief, readChecklist } from '../shared/message-text.ts';
import { takeCall } from '../shared/pending-events.ts';
import { makeRowAgent, type RowFormat } from '../shared/transcript.ts';
import { inspectFile, listTranscripts } from './sessions.ts';
import { Todos, toAction } from './tools.ts';

/** What is remembered between rows. It is saved with a bookmark: its fields are a format on disk. */
interface State {
  /** Calls without a result so far that are answers or plans. */
  open: Map<string, { kind: 'answer' | 'todos' | 'checklist'; text: string }>;
  todos: Map<string, PlanItem>;
  /** Those that MCP servers read or wrote. */
  files: Set<string>;
  cwd: string | null;
  branch: string | null;
  model: string | null;
  rewound: Rewinds;
}

function startState(rewound: Rewinds): State {
  return { open: new Map(), todos: new Map(), files: new Set(), cwd: null, branch: null, model: null, rewound };
}

const format: RowFormat<State> = {
  start: () => startState({ gone: new Set(), ranges: [] }),
  lookAhead: ({ path }, until) => startState(findRewinds(path, until)),
  openReader: ({ state, stats, knowsAll }) => {
    const reader = new TranscriptReader(state, stats);
    return {
      read: ({ row, line }) => {
        if (!knowsAll && row.type === REWIND) return null;
        const isSilent = isWithoutEvents(getText(row, 'type') ?? '');
        return isSilent || isDiscarded(state.rewound, line, getText(row, 'id')) ? [] : reader.read(row, line);
      },
    };
  },
  shortcuts: () => ({ canSkip: canSkipRow }),
};

export const copilotAgent = makeRowAgent({ name: 'copilot', listTranscripts, inspectFile }, format);

const EXIT_NOTE = /\n?<(?:shellId: [^<>\n]{1,60} )?(?:completed|exited) with exit code (-?\d{1,10})>\s*$/;
/** Turns are also aborted by failures. */
const USER_ABORT = /user|interrupt|remote/i;
const ANSWER_PREFIX = /^(?:User (?:responded|selected|answered|chose)|Answer): /i;

class TranscriptReader {
  readonly #state: State;
  readonly #stats: ReadStats;
  readonly #todos: Todos;
  readonly #files: TouchedFiles;

  constructor(state: State, stats: ReadStats) {
    this.#state = state;
    this.#stats = stats;
    this.#todos = new Todos(state.todos);
    this.#files = new TouchedFiles(state.files);
  }

  read(row: Row, line: number): Iterable<Event> {
    const type = getText(row, 'type') ?? '';
    const data = getRow(row, 'data');
    const stamp = this.#stamp(row, data, line);
    switch (type) {
      case 'session.start':
        this.#stats.agentVersion = getText(data, 'copilotVersion') ?? this.#stats.agentVersion;
        return this.#updateContext(getText(data, 'selectedModel'), getRow(data, 'context'));
      case 'session.resume':
        return this.#updateContext(getText(data, 'selectedModel'), getRow(data, 'context'));
      case 'session.context_changed':
        return this.#updateContext(null, data);
      case 'session.model_change':
        return this.#updateContext(getText(data, 'newModel'), {});
      case 'user.message':
        return isHuman(row, data) ? make.prompt(stamp, getText(data, 'content') ?? '') : [];
      case 'assistant.message':
        return make.reply(stamp, getText(data, 'content') ?? '');
      case 'tool.execution_start':
        return this.#readCall(stamp, data);
      case 'tool.execution_complete':
        return this.#readResult(stamp, data);
      case 'session.compaction_complete':
        return data.success === false ? [] : [make.compaction(stamp, getText(data, 'summaryContent'))];
      case 'abort':
        return USER_ABORT.test(getText(data, 'reason') ?? 'user') ? [make.interruption(stamp)] : [];
      case 'session.error':
      case 'model.call_failure':
        return [make.limit(stamp, getText(data, 'message', 'errorMessage') ?? type)];
      case 'hook.end':
        return make.injected(stamp, getText(getRow(data, 'output'), 'additionalContext') ?? '');
      default:
        countUnknown(this.#stats, type);
        return [];
    }
  }

  /** Notes what holds from here on. Makes no event. */
  #updateContext(model: string | null, context: Row): [] {
    this.#state.model = model ?? this.#state.model;
    this.#state.cwd = getText(context, 'cwd') ?? this.#state.cwd;
    this.#state.branch = getText(context, 'branch') ?? this.#state.branch;
    return [];
  }

  #stamp(row: Row, data: Row, line: number): make.Stamp {
    const { cwd, branch } = this.#state;
    const model = getText(data, 'model') ?? this.#state.model;
    const stamp = make.stamp({ at: toTimestamp(row.timestamp), line, id: getText(row, 'id'), cwd, model, branch });
    return { ...stamp, ...(isSubAgent(row, data) ? { sidechain: true } : {}) };
  }

  *#readCall(stamp: make.Stamp, data: Row): Generator<Event> {
    const id = getText(data, 'toolCallId');
    const tool = getText(data, 'toolName') ?? '';
    if (id === null) return;
    const input = parseInput(data.arguments);
    const fields = asRow(input) ?? {};
    const query = tool === 'sql' ? getText(fields, 'query') : null;
    const list = tool === 'update_todo' ? getText(fields, 'todos') : null;
    if (query !== null && /\btodos\b/i.test(query) && !/^\s*select\b/i.test(query)) {
      this.#state.open.set(id, { kind: 'todos', text: query });
    } else if (list !== null) this.#state.open.set(id, { kind: 'checklist', text: list });
    else {
      if (tool === 'ask_user') this.#state.open.set(id, { kind: 'answer', text: '' });
      yield make.call(stamp, { id, tool, action: this.#toAction(tool, input, getText(data, 'mcpToolName')) });
    }
  }

  #toAction(tool: string, input: unknown, mcpTool: string | null): Action {
    const { cwd } = this.#state;
    const action = toAction(tool, input, cwd);
    if (action.kind !== 'other') return action;
    return describeMcpFileCall({ tool: mcpTool ?? tool, input: asRow(input) ?? {}, cwd }, this.#files) ?? action;
  }

  *#readResult(stamp: make.Stamp, data: Row): Generator<Event> {
    const id = getText(data, 'toolCallId');
    if (id === null) return;
    const open = takeCall(this.#state.open, id);
    const succeeded = typeof data.success === 'boolean' ? data.success : null;
    const text = readResultText(data);
    if (open?.kind === 'answer' && succeeded !== false) {
      yield* make.prompt(stamp, text.replace(ANSWER_PREFIX, ''));
    } else if (open?.kind === 'todos') {
      if (succeeded !== false && this.#todos.apply(open.text)) yield make.plan(stamp, this.#todos.items);
    } else if (open?.kind === 'checklist') {
      const items = readChecklist(open.text);
      if (succeeded !== false && items.length > 0) yield make.plan(stamp, items);
    } else {
      const note = EXIT_NOTE.exec(text.slice(-200));
      const exit = getNumber(getRow(data, 'shellExecution'), 'exitCode') ?? (note === null ? null : Number(note[1]));
      const ok = exit === null || succeeded === false ? succeeded : exit === 0;
      yield make.result(stamp, { id, ok, exit, output: text.replace(EXIT_NOTE, '') });
    }
  }
}

function isSubAgent(row: Row, data: Row): boolean {
  return getText(row, 'agentId') !== null || getText(data, 'parentToolCallId') !== null;
}

/** Prompts of sub-agents come from agents; others from schedules, skills and other sessions. */
function isHuman(row: Row, data: Row): boolean {
  if (isSubAgent(row, data) || getText(data, 'inputOrigin') !== null) return false;
  const source = getText(data, 'source');
  return source === null || source === 'user' || source === 'human';
}

function readResultText(data: Row): string {
  const result = getRow(data, 'result');
  const content = getText(result, 'content');
  if (content !== null) return content;
  const texts = listBlockTexts(result.contents);
  return texts.length > 0 ? texts.join('\n') : (getText(getRow(data, 'error'), 'message') ?? '');
}

const TYPE = /^\s{0,8}\{"type":"([\w.]{1,80})"/;

/** Whether the bytes of a row prove that it makes no event. Output of hooks may be a brief of ours. */
export function canSkipRow(bytes: Buffer): boolean {
  const type = TYPE.exec(bytes.toString('latin1', 0, 120))?.[1];
  if (type === undefined || type === REWIND) return false;
  return type === 'hook.end' ? !mayHoldBrief(bytes) : isWithoutEvents(type);
}

/** Rows that say nothing about the work. The longest rows, snapshots of all messages, are among them. */
export function isWithoutEvents(type: string): boolean {
  return EVENTLESS.has(type) || EVENTLESS_FAMILY.test(type);
}

const EVENTLESS_FAMILY =
  /^(?:(?:auto_mode_switch|canvas|capabilities|command|commands|custom_notification|elicitation|exit_plan_mode|extensions|external_tool|factory|managed_settings|mcp|mcp_app|pending_messages|permission|sampling|session_limits_exhausted|skill|subagent|system|tools|ui|user_input)[._]|hook\.(?:start|progress)$|model\.(?!call_failure$)|(?:assistant|session)\.fusion_)/;
const EVENTLESS = new Set(
  (
    'assistant.idle assistant.intent assistant.message_delta assistant.message_start assistant.reasoning ' +
    'assistant.reasoning_delta assistant.server_tool_progress assistant.streaming_delta assistant.tool_call_delta ' +
    'assistant.turn_end assistant.turn_retry assistant.turn_start assistant.usage session.auto_mode_resolved ' +
    'session.autopilot_objective_changed session.background_tasks_changed session.binary_asset ' +
    'session.compaction_start session.context_cleared session.custom_agents_updated session.extensions_loaded ' +
    'session.handoff session.idle session.import_legacy session.info session.mcp_server_status_changed ' +
    'session.mcp_servers_loaded session.mode_changed session.mode_notice_delivered session.permissions_changed ' +
    'session.plan_changed session.remote_steerable_changed session.schedule_cancelled session.schedule_created ' +
    'session.schedule_rearmed session.session_limits_changed session.shutdown session.skills_loaded ' +
    'session.snapshot_rewind session.task_complete session.title_changed session.todos_changed session.tools_updated ' +
    'session.truncation session.usage_checkpoint session.usage_info session.usage_record session.warning ' +
    'session.workspace_file_changed tool.execution_partial_result tool.execution_progress tool.search_activated ' +
    'tool.user_requested'
  ).split(' '),
);

/** What was rewound. Saved with a bookmark. */
export interface Rewinds {
  /** Ids of discarded events. */
  gone: Set<string>;
  /** The first and last line of each discarded part. */
  ranges: [number, number][];
}

export function isDiscarded({ gone, ranges }: Rewinds, line: number, id: string | null): boolean {
  return (id !== null && gone.has(id)) || ranges.some(([start, end]) => line >= start && line <= end);
}

/** `from` is the first event that is discarded. */
type Rewind = { line: number; from: string | null };

export const REWIND = 'session.snapshot_rewind';
const MARK = Buffer.from(`"${REWIND}"`);

/** Scans the bytes of a transcript. One with rewinds is read and parsed once more. */
export function findRewinds(path: string, until: number): Rewinds {
  const rewinds: Rewind[] = [];
  const gone = new Set<string>();
  for (const { bytes, number } of readLines(path, { until })) {
    if (!bytes.subarray(0, 200).includes(MARK)) continue;
    const row = parseRow(bytes.toString('utf8'));
    if (row?.type !== REWIND) continue;
    const data = getRow(row, 'data');
    rewinds.push({ line: number, from: getText(data, 'upToEventId') });
    for (const id of Array.isArray(data.eventIds) ? data.eventIds : []) if (typeof id === 'string') gone.add(id);
  }
  return { gone, ranges: rewinds.length === 0 ? [] : findRanges(path, rewinds, until) };
}

function findRanges(path: string, rewinds: readonly Rewind[], until: number): [number, number][] {
  const lines = new Map<string, number>();
  for (const { bytes, number } of readLines(path, { until })) {
    const id = parseRow(bytes.toString('utf8'))?.id;
    if (typeof id === 'string' && !lines.has(id)) lines.set(id, number);
  }
  return rewinds.flatMap(({ line, from }): [number, number][] => {
    const start = from === null ? undefined : lines.get(from);
    return start !== undefined && start <= line ? [[start, line]] : [];
  });
}
