import type { Action, Event, PlanItem } from '../../model/event.ts';
import type { ReadStats } from '../agent.ts';
import { parseInput } from '../shared/actions.ts';
import { TouchedFiles } from '../shared/files.ts';
import { asRow, countUnknown, getNumber, getRow, getText, listBlockTexts, type Row } from '../shared/json.ts';
import {
  makeCall,
  makeCompaction,
  makeInjected,
  makeInterruption,
  makeLimit,
  makePlan,
  makePrompt,
  makeReply,
  makeResult,
  makeStamp,
  type Stamp,
  toTimestamp,
} from '../shared/make-events.ts';
import { describeMcpFileCall } from '../shared/mcp-files.ts';
import { readChecklist } from '../shared/message-text.ts';
import { takeCall } from '../shared/pending-events.ts';
import { makeRowAgent, type RowFormat } from '../shared/transcript.ts';
import { canSkipRow, findRewinds, isDiscarded, isWithoutEvents, REWIND, type Rewinds } from './rows.ts';
import { findSessions, inspectFile, listTranscripts } from './sessions.ts';
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

export const copilotAgent = makeRowAgent({ name: 'copilot', findSessions, listTranscripts, inspectFile }, format);

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
        this.#stats.sessionId = getText(data, 'sessionId') ?? this.#stats.sessionId;
        this.#stats.agentVersion = getText(data, 'copilotVersion') ?? this.#stats.agentVersion;
        return this.#updateContext(getText(data, 'selectedModel'), getRow(data, 'context'));
      case 'session.resume':
        return this.#updateContext(getText(data, 'selectedModel'), getRow(data, 'context'));
      case 'session.context_changed':
        return this.#updateContext(null, data);
      case 'session.model_change':
        return this.#updateContext(getText(data, 'newModel'), {});
      case 'user.message':
        return isHuman(row, data) ? makePrompt(stamp, getText(data, 'content') ?? '') : [];
      case 'assistant.message':
        return makeReply(stamp, getText(data, 'content') ?? '');
      case 'tool.execution_start':
        return this.#readCall(stamp, data);
      case 'tool.execution_complete':
        return this.#readResult(stamp, data);
      case 'session.compaction_complete':
        return data.success === false ? [] : [makeCompaction(stamp, getText(data, 'summaryContent'))];
      case 'abort':
        return USER_ABORT.test(getText(data, 'reason') ?? 'user') ? [makeInterruption(stamp)] : [];
      case 'session.error':
      case 'model.call_failure':
        return [makeLimit(stamp, getText(data, 'message', 'errorMessage') ?? type)];
      case 'hook.end':
        return makeInjected(stamp, getText(getRow(data, 'output'), 'additionalContext') ?? '');
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

  #stamp(row: Row, data: Row, line: number): Stamp {
    const { cwd, branch } = this.#state;
    const model = getText(data, 'model') ?? this.#state.model;
    const stamp = makeStamp({ at: toTimestamp(row.timestamp), line, id: getText(row, 'id'), cwd, model, branch });
    return { ...stamp, ...(isSubAgent(row, data) ? { sidechain: true } : {}) };
  }

  *#readCall(stamp: Stamp, data: Row): Generator<Event> {
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
      yield makeCall(stamp, { id, tool, action: this.#toAction(tool, input, getText(data, 'mcpToolName')) });
    }
  }

  #toAction(tool: string, input: unknown, mcpTool: string | null): Action {
    const { cwd } = this.#state;
    const action = toAction(tool, input, cwd);
    if (action.kind !== 'other') return action;
    return describeMcpFileCall({ tool: mcpTool ?? tool, input: asRow(input) ?? {}, cwd }, this.#files) ?? action;
  }

  *#readResult(stamp: Stamp, data: Row): Generator<Event> {
    const id = getText(data, 'toolCallId');
    if (id === null) return;
    const open = takeCall(this.#state.open, id);
    const succeeded = typeof data.success === 'boolean' ? data.success : null;
    const text = readResultText(data);
    if (open?.kind === 'answer' && succeeded !== false) {
      yield* makePrompt(stamp, text.replace(ANSWER_PREFIX, ''));
    } else if (open?.kind === 'todos') {
      if (succeeded !== false && this.#todos.apply(open.text)) yield makePlan(stamp, this.#todos.items);
    } else if (open?.kind === 'checklist') {
      const items = readChecklist(open.text);
      if (succeeded !== false && items.length > 0) yield makePlan(stamp, items);
    } else {
      const note = EXIT_NOTE.exec(text.slice(-200));
      const exit = getNumber(getRow(data, 'shellExecution'), 'exitCode') ?? (note === null ? null : Number(note[1]));
      const ok = exit === null || succeeded === false ? succeeded : exit === 0;
      yield makeResult(stamp, { id, ok, exit, output: text.replace(EXIT_NOTE, '') });
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
