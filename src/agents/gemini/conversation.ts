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
import { countUnknown, EMPTY_ROW, getRow, getRows, getText, type Row, toRows } from '../json.ts';
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
import { TouchedFiles } from '../touched-files.ts';
import { ACKNOWLEDGEMENT, isSummary, readHuman, readTexts } from './messages.ts';

interface Message {
  row: Row;
  line: number;
}

interface OpenCall {
  tool: string;
  input: Row;
}

const API_ERROR = /API Error|quota|rate.?limit|RESOURCE_EXHAUSTED|overloaded|\b(?:429|503|529)\b/i;

/** All that is remembered of the messages of a conversation. */
export interface ConversationState {
  files: Set<string>;
  told: Set<string>;
  calls: Map<string, OpenCall>;
  answered: Set<string>;
  latest: Message | null;
}

export function startConversation(): ConversationState {
  return { files: new Set(), told: new Set(), calls: new Map(), answered: new Set(), latest: null };
}

/**
 * A conversation as its messages are read. A message is written again, whole, when something is added to it, so the
 * latest one is held back until another follows. What is known of those before it is their ids.
 */
export class Conversation {
  readonly #state: ConversationState;
  readonly #reading: Reading;
  readonly #cwd: string | null;
  readonly #isSubAgent: boolean;
  readonly #files: TouchedFiles;

  constructor(state: ConversationState, session: FoundSession, reading: Reading) {
    this.#state = state;
    this.#reading = reading;
    this.#cwd = session.cwd;
    this.#isSubAgent = session.parent !== null;
    this.#files = new TouchedFiles(state.files);
  }

  *read(row: Row, line: number): Generator<Event> {
    const id = getText(row, 'id');
    if (id === null) return;
    const latest = this.#state.latest;
    if (latest !== null && latest.row.id !== id) yield* this.finish();
    this.#state.latest = { row, line: latest?.row.id === id ? latest.line : line };
  }

  *finish(): Generator<Event> {
    const latest = this.#state.latest;
    this.#state.latest = null;
    if (latest !== null) yield* this.#readMessage(latest);
  }

  /**
   * The list of messages is written anew when a session is resumed and when it is compressed. Both leave out much of
   * what happened and repeat the rest, so it tells only two things: a summary, and messages where there were none.
   */
  *replace(messages: unknown, line: number): Generator<Event> {
    yield* this.finish();
    const rows = toRows(messages);
    const summary = rows.find((row) => row.type === 'user' && readTexts(row.content).some(isSummary));
    if (summary !== undefined) {
      const id = getText(summary, 'id') ?? '';
      if (!this.#state.told.has(id))
        yield makeCompaction(this.#stamp(summary, line), readTexts(summary.content).join('\n'));
      this.#state.told.add(id);
    } else if (this.#state.told.size === 0) {
      for (const row of rows) yield* this.#readMessage({ row, line });
    }
  }

  #stamp(row: Row, line: number): Stamp {
    const model = getText(row, 'model');
    return makeStamp({ at: toTimestamp(row.timestamp), line, id: getText(row, 'id'), cwd: this.#cwd, model });
  }

  *#readMessage({ row, line }: Message): Generator<Event> {
    const stamp = this.#stamp(row, line);
    const id = getText(row, 'id') ?? '';
    const isNew = !this.#state.told.has(id);
    if (row.type === 'user') {
      if (isNew) yield* this.#readUser(row, stamp);
    } else if (row.type === 'gemini') yield* this.#readGemini(row, stamp, isNew);
    else if (row.type === 'error') {
      const text = readTexts(row.content).join('\n');
      if (isNew && API_ERROR.test(text)) yield makeLimit(stamp, text);
    } else if (row.type !== 'info' && row.type !== 'warning') {
      countUnknown(this.#reading.unknown, getText(row, 'type') ?? '(no type)');
    }
    // What stands at the head of each session is no message yet.
    if (!readTexts(row.content).some((text) => text.startsWith('<session_context>')))
      this.#state.told.add(id);
  }

  *#readUser(row: Row, stamp: Stamp): Generator<Event> {
    for (const part of toRows(row.content)) {
      const response = getRow(part, 'functionResponse');
      const id = getText(response, 'id');
      if (id !== null) yield* this.#readResponse(id, response, stamp);
    }
    const texts = readTexts(row.content);
    if (texts.some(isSummary)) {
      yield makeCompaction(stamp, texts.join('\n'));
      return;
    }
    const { text, added } = readHuman(row);
    for (const context of added) yield* makeInjected(stamp, context);
    if (text !== null && !this.#isSubAgent) yield* makePrompt(stamp, text);
  }

  *#readGemini(row: Row, stamp: Stamp, isNew: boolean): Generator<Event> {
    const text = readTexts(row.content).join('\n');
    if (isNew && text !== ACKNOWLEDGEMENT) yield* makeReply(stamp, text);
    for (const part of toRows(row.content)) yield* this.#readCall(getRow(part, 'functionCall'), stamp);
    for (const call of getRows(row, 'toolCalls')) {
      const at = toTimestamp(call.timestamp);
      yield* this.#readToolCall(call, at === null ? stamp : { ...stamp, at });
    }
  }

  *#readCall(call: Row, stamp: Stamp): Generator<Event> {
    const id = getText(call, 'id');
    const tool = getText(call, 'name');
    if (id === null || tool === null || this.#state.calls.has(id) || this.#state.answered.has(id)) return;
    const input = getRow(call, 'args');
    this.#state.calls.set(id, { tool, input: tool === 'ask_user' ? input : EMPTY_ROW });
    if (isPlanTool(tool)) {
      const plan = readPlan(tool, input, call.resultDisplay);
      if (plan !== null) yield makePlan(stamp, plan);
      return;
    }
    const action = describeGeminiCall({ tool, input, cwd: this.#cwd }, this.#files);
    const text = readText(getRow(readResponse(call), 'response'));
    yield makeCall(stamp, { id, tool, action: refineWrite(action, text, call.resultDisplay) });
  }

  *#readToolCall(call: Row, stamp: Stamp): Generator<Event> {
    yield* this.#readCall(call, stamp);
    const id = getText(call, 'id');
    const status = getText(call, 'status');
    if (id === null || (status !== 'success' && status !== 'error' && status !== 'cancelled')) return;
    yield* this.#readResponse(id, readResponse(call), stamp, status === 'success');
  }

  *#readResponse(id: string, response: Row, stamp: Stamp, isFine?: boolean): Generator<Event> {
    const call = this.#state.calls.get(id);
    if (call === undefined) return;
    this.#state.calls.delete(id);
    this.#state.answered.add(id);
    if (isPlanTool(call.tool)) return;
    const { ok, exit, output } = readOutcome(call, getRow(response, 'response'), isFine);
    const isBrief = isOurBrief(output);
    yield makeResult(stamp, { id, ok, exit, output: isBrief ? '' : output });
    if (isBrief) yield* makeInjected(stamp, output);
    const answers = call.tool === 'ask_user' && ok ? readGivenAnswers(output, call.input) : null;
    if (answers !== null) yield* makePrompt(stamp, answers);
  }
}

/** What the tool gave back, in a record of a call that has ended. */
function readResponse(call: Row): Row {
  const [part] = toRows(call.result);
  return getRow(part ?? EMPTY_ROW, 'functionResponse');
}

function readText(body: Row): string {
  const given = getText(body, 'output') ?? getText(body, 'error') ?? '';
  return UNTRUSTED.exec(given)?.[1] ?? given;
}

const UNTRUSTED = /^<untrusted_context>\n?([\s\S]*?)\n?<\/untrusted_context>\s*$/;

function readOutcome(
  call: OpenCall,
  body: Row,
  isFine = !('error' in body),
): { ok: boolean; exit: number | null; output: string } {
  const text = readText(body);
  const shell = call.tool === 'run_shell_command' ? readShellOutput(text) : null;
  if (shell === null) return { ok: isFine, exit: null, output: text };
  return {
    ok: isFine && shell.exit === 0,
    exit: isFine || shell.exit !== 0 ? shell.exit : null,
    output: shell.output,
  };
}
