import type { Event } from '../../model/event.ts';
import type { Reading } from '../agent.ts';
import { countUnknown, getNumber, getRow, getText, type Row } from '../json.ts';
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
import { TouchedFiles } from '../touched-files.ts';
import { readAction, readAnswers, readOutput, readPlan } from './actions.ts';

export interface Message {
  id: string;
  info: Row;
  parts: Iterable<Part>;
}

export interface Part {
  id: string;
  data: Row;
}

/** The message, or the part of it, from which on everything was taken back. */
export interface Revert {
  messageId: string;
  partId: string | null;
}

export interface Conversation {
  cwd: string | null;
  revert: Revert | null;
  messages: Iterable<Message>;
}

export function readRevert(value: Row | null): Revert | null {
  const messageId = value === null ? null : getText(value, 'messageID');
  return value === null || messageId === null ? null : { messageId, partId: getText(value, 'partID') };
}

/** Parts that say nothing of their own: boundaries of steps, thinking, attachments, what other parts say better. */
const SILENT = new Set([
  'reasoning',
  'file',
  'step-start',
  'step-finish',
  'snapshot',
  'patch',
  'agent',
  'subtask',
]);

export function* tellConversation(conversation: Conversation, reading: Reading): Generator<Event> {
  const { revert } = conversation;
  const teller = new Teller(conversation.cwd, reading);
  for (const message of conversation.messages) {
    const isEnd = revert !== null && message.id === revert.messageId;
    if (isEnd && revert.partId === null) break;
    yield* teller.tellMessage(message, isEnd ? revert.partId : null);
    if (isEnd) break;
  }
  yield* teller.finish();
}

class Teller {
  readonly #sessionCwd: string | null;
  readonly #reading: Reading;
  readonly #files = new TouchedFiles();
  /** A compaction that was asked for, until the message with its summary comes. */
  #compaction: Stamp | null = null;
  #line = 0;

  constructor(cwd: string | null, reading: Reading) {
    this.#sessionCwd = cwd;
    this.#reading = reading;
  }

  *finish(): Generator<Event> {
    if (this.#compaction !== null) yield makeCompaction(this.#compaction, null);
    this.#compaction = null;
  }

  *tellMessage({ id, info, parts }: Message, untilPart: string | null): Generator<Event> {
    this.#reading.rows++;
    const role = getText(info, 'role');
    if (role === 'assistant' && (info.summary === true || info.mode === 'compaction')) {
      yield* this.#tellSummary(info, parts);
      return;
    }
    yield* this.finish();
    if (role !== 'user' && role !== 'assistant') {
      countUnknown(this.#reading.unknown, `message ${role ?? ''}`.trim());
      return;
    }
    for (const part of parts) {
      if (part.id === untilPart) return;
      yield* this.#tellPart(part, info, role);
    }
    if (role === 'assistant') yield* this.#tellError(id, info);
  }

  *#tellSummary(info: Row, parts: Iterable<Part>): Generator<Event> {
    const texts: string[] = [];
    let last: Part | null = null;
    for (const part of parts) {
      this.#reading.rows++;
      this.#line++;
      last = part;
      if (part.data.type === 'text') texts.push(getText(part.data, 'text') ?? '');
    }
    const stamp = this.#compaction ?? this.#stampOf(last ?? { id: '', data: {} }, info);
    this.#compaction = null;
    yield makeCompaction(stamp, texts.join('\n'));
  }

  *#tellPart(part: Part, info: Row, role: 'user' | 'assistant'): Generator<Event> {
    this.#reading.rows++;
    this.#line++;
    const type = getText(part.data, 'type');
    const stamp = this.#stampOf(part, info);
    if (type === 'text') yield* tellText(stamp, part.data, role);
    else if (type === 'tool') yield* this.#tellTool(stamp, part);
    else if (type === 'compaction') this.#compaction = stamp;
    else if (type === 'retry') yield makeLimit(stamp, readError(getRow(part.data, 'error')));
    else if (type === null || !SILENT.has(type))
      countUnknown(this.#reading.unknown, `part ${type ?? ''}`.trim());
  }

  *#tellTool(stamp: Stamp, part: Part): Generator<Event> {
    const tool = getText(part.data, 'tool') ?? '';
    const state = getRow(part.data, 'state');
    const input = getRow(state, 'input');
    const metadata = getRow(state, 'metadata');
    const status = getText(state, 'status');
    if (tool === 'todoread') return;
    if (tool === 'todowrite') {
      if (status !== 'error') yield makePlan(stamp, readPlan(input));
      return;
    }
    const id = getText(part.data, 'callID') ?? part.id;
    const action = readAction({ tool, input, metadata, cwd: stamp.cwd ?? null }, this.#files);
    yield makeCall(stamp, { id, tool, action });
    if (status !== 'completed' && status !== 'error') return;
    const ended = { ...stamp, at: toTimestamp(getRow(state, 'time').end) ?? stamp.at };
    const answers = tool === 'question' ? readAnswers(input, metadata) : null;
    if (answers !== null) {
      yield* makePrompt(ended, answers);
      return;
    }
    const exit = getNumber(metadata, 'exit');
    const ok = status === 'completed' && (exit === null || exit === 0);
    yield makeResult(ended, { id, ok, exit, output: readOutput(tool, state) });
  }

  /** An interrupt by the human is kept as an error as well; it is none. */
  *#tellError(id: string, info: Row): Generator<Event> {
    const error = getRow(info, 'error');
    const name = getText(error, 'name');
    if (name === null || name === 'MessageAbortedError') return;
    yield makeLimit(this.#stampOf({ id, data: {} }, info), readError(error));
  }

  #stampOf({ id, data }: Part, info: Row): Stamp {
    const time = getRow(data, 'time').start ?? getRow(getRow(data, 'state'), 'time').start;
    return makeStamp({
      at: toTimestamp(time) ?? toTimestamp(getRow(info, 'time').created),
      line: this.#line,
      id: id === '' ? null : id,
      cwd: getText(getRow(info, 'path'), 'cwd') ?? this.#sessionCwd,
      model: getText(info, 'modelID') ?? getText(getRow(info, 'model'), 'modelID'),
    });
  }
}

/** Synthetic text is OpenCode's or a plugin's; ignored text is shown to the human only. */
function* tellText(stamp: Stamp, data: Row, role: 'user' | 'assistant'): Generator<Event> {
  const text = getText(data, 'text') ?? '';
  if (data.synthetic === true || data.ignored === true) yield* makeInjected(stamp, text);
  else yield* role === 'user' ? makePrompt(stamp, text) : makeReply(stamp, text);
}

function readError(error: Row): string {
  return (
    getText(getRow(error, 'data'), 'message') ?? getText(error, 'message') ?? getText(error, 'name') ?? ''
  );
}
