import type { Event, PlanItem } from '../../model/event.ts';
import type { Reading } from '../agent.ts';
import {
  asRow,
  countUnknown,
  getNumber,
  getRow,
  getText,
  parseAny,
  type Row,
  toRows,
} from '../shared/json.ts';
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
} from '../shared/make-events.ts';
import { readChecklist } from '../shared/message-text.ts';
import { toAction } from './actions.ts';
import { Todos } from './todos.ts';

/** What is still to come of a call that is not told the usual way. */
interface OpenCall {
  kind: 'answer' | 'todos' | 'checklist';
  text: string;
}

const EXIT_NOTE = /\n?<(?:shellId: [^<>\n]{1,60} )?(?:completed|exited) with exit code (-?\d{1,10})>\s*$/;
const ANSWER_PREFIX = /^(?:User (?:responded|selected|answered|chose)|Answer): /i;

/** All that is remembered of the rows of a session. */
export interface ReaderState {
  open: Map<string, OpenCall>;
  todos: Map<string, PlanItem>;
  cwd: string | null;
  branch: string | null;
  model: string | null;
}

export function startReader(): ReaderState {
  return { open: new Map(), todos: new Map(), cwd: null, branch: null, model: null };
}

/** Turns the events of one session's file into events. */
export class TranscriptReader {
  readonly #state: ReaderState;
  readonly #reading: Reading;
  readonly #todos: Todos;

  constructor(state: ReaderState, reading: Reading) {
    this.#state = state;
    this.#reading = reading;
    this.#todos = new Todos(state.todos);
  }

  *read(row: Row, line: number): Generator<Event> {
    const type = getText(row, 'type') ?? '';
    const data = getRow(row, 'data');
    const stamp = this.#stamp(row, data, line);
    switch (type) {
      case 'session.start':
        this.#reading.sessionId = getText(data, 'sessionId') ?? this.#reading.sessionId;
        this.#reading.agentVersion = getText(data, 'copilotVersion') ?? this.#reading.agentVersion;
        this.#state.model = getText(data, 'selectedModel') ?? this.#state.model;
        this.#move(getRow(data, 'context'));
        return;
      case 'session.resume':
        this.#state.model = getText(data, 'selectedModel') ?? this.#state.model;
        this.#move(getRow(data, 'context'));
        return;
      case 'session.context_changed':
        this.#move(data);
        return;
      case 'session.model_change':
        this.#state.model = getText(data, 'newModel') ?? this.#state.model;
        return;
      case 'user.message':
        if (isHuman(row, data)) yield* makePrompt(stamp, getText(data, 'content') ?? '');
        return;
      case 'assistant.message':
        yield* makeReply(stamp, getText(data, 'content') ?? '');
        return;
      case 'tool.execution_start':
        yield* this.#readCall(stamp, data);
        return;
      case 'tool.execution_complete':
        yield* this.#readResult(stamp, data);
        return;
      case 'session.compaction_complete':
        if (data.success !== false) yield makeCompaction(stamp, getText(data, 'summaryContent'));
        return;
      case 'session.error':
      case 'model.call_failure':
        yield makeLimit(stamp, getText(data, 'message') ?? getText(data, 'errorMessage') ?? type);
        return;
      case 'hook.end':
        yield* makeInjected(stamp, getText(getRow(data, 'output'), 'additionalContext') ?? '');
        return;
      default:
        countUnknown(this.#reading.unknown, type);
    }
  }

  #move(context: Row): void {
    this.#state.cwd = getText(context, 'cwd') ?? this.#state.cwd;
    this.#state.branch = getText(context, 'branch') ?? this.#state.branch;
  }

  #stamp(row: Row, data: Row, line: number): Stamp {
    const model = getText(data, 'model') ?? this.#state.model;
    const at = toTimestamp(row.timestamp);
    return {
      ...makeStamp({ at, line, id: getText(row, 'id'), cwd: this.#state.cwd, model }),
      ...(this.#state.branch ? { branch: this.#state.branch.toWellFormed() } : {}),
      ...(isSubAgent(row, data) ? { sidechain: true } : {}),
    };
  }

  *#readCall(stamp: Stamp, data: Row): Generator<Event> {
    const id = getText(data, 'toolCallId');
    const tool = getText(data, 'toolName') ?? '';
    if (id === null) return;
    const input = readInput(data.arguments);
    const fields = asRow(input) ?? {};
    const query = tool === 'sql' ? getText(fields, 'query') : null;
    const list = tool === 'update_todo' ? getText(fields, 'todos') : null;
    if (query !== null && /\btodos\b/i.test(query) && !/^\s*select\b/i.test(query)) {
      this.#state.open.set(id, { kind: 'todos', text: query });
    } else if (list !== null) this.#state.open.set(id, { kind: 'checklist', text: list });
    else {
      if (tool === 'ask_user') this.#state.open.set(id, { kind: 'answer', text: '' });
      yield makeCall(stamp, { id, tool, action: toAction(tool, input, this.#state.cwd) });
    }
  }

  *#readResult(stamp: Stamp, data: Row): Generator<Event> {
    const id = getText(data, 'toolCallId');
    if (id === null) return;
    const open = this.#state.open.get(id);
    this.#state.open.delete(id);
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
      const exit =
        getNumber(getRow(data, 'shellExecution'), 'exitCode') ?? (note === null ? null : Number(note[1]));
      const ok = exit === null || succeeded === false ? succeeded : exit === 0;
      yield makeResult(stamp, { id, ok, exit, output: text.replace(EXIT_NOTE, '') });
    }
  }
}

function isSubAgent(row: Row, data: Row): boolean {
  return getText(row, 'agentId') !== null || getText(data, 'parentToolCallId') !== null;
}

/** Sub-agents are spoken to by agents, and some messages come from schedules, skills and other sessions. */
function isHuman(row: Row, data: Row): boolean {
  if (isSubAgent(row, data) || getText(data, 'inputOrigin') !== null) return false;
  const source = getText(data, 'source');
  return source === null || source === 'user' || source === 'human';
}

function readInput(input: unknown): unknown {
  if (typeof input !== 'string') return input;
  return asRow(parseAny(input)) ?? input;
}

function readResultText(data: Row): string {
  const result = getRow(data, 'result');
  const content = getText(result, 'content');
  if (content !== null) return content;
  const texts = toRows(result.contents).flatMap((part) => getText(part, 'text') ?? []);
  return texts.length > 0 ? texts.join('\n') : (getText(getRow(data, 'error'), 'message') ?? '');
}
