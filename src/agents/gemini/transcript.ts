import type { Event } from '../../model/event.ts';
import { readHead } from '../../platform/external-file.ts';
import { readLines } from '../../platform/lines.ts';
import { type Agent, countUnknown, type FoundSession, type ReadStats } from '../agent.ts';
import { TouchedFiles } from '../shared/files.ts';
import { makeToolCall, makeToolResult, type OpenCall, readShellOutput, toOpenCall } from '../shared/gemini-tools.ts';
import { getRow, getText, parseRow, type Row, toRows, toTimestamp } from '../shared/json.ts';
import { type NumberedRow, peekText, toKey } from '../shared/json-lines.ts';
import * as make from '../shared/make-events.ts';
import { takeCall } from '../shared/pending-events.ts';
import { sortResults } from '../shared/result-order.ts';
import { openRows, type RowFormat, readRows } from '../shared/transcript.ts';
import { ACKNOWLEDGEMENT, isSummary, readHuman, readTexts } from './messages.ts';
import { findSessions, inspectFile, listTranscripts } from './sessions.ts';

export const geminiAgent: Agent = {
  name: 'gemini',
  findSessions,
  listTranscripts,
  inspectFile,
  readEvents: (session, stats) =>
    sortResults(isDocument(session) ? readDocument(session, stats) : readRows(format, session, stats)),
  openTranscript: (options) => (isDocument(options.session) ? null : openRows(format, options)),
};

function isDocument({ path }: FoundSession): boolean {
  return path.endsWith('.json');
}

/** Saved in the transcript checkpoint. */
interface LogState {
  files: Set<string>;
  /** The ids of the messages that became events. */
  read: Set<string>;
  calls: Map<string, OpenCall>;
  answered: Set<string>;
  latest: NumberedRow | null;
  /** The ids of messages that were rewound. */
  dead: Set<string>;
}

function startState(dead: Set<string>): LogState {
  return { files: new Set(), read: new Set(), calls: new Map(), answered: new Set(), latest: null, dead };
}

const format: RowFormat<LogState> = {
  start: () => startState(new Set()),
  lookAhead: ({ path }, until) => startState(findRewoundMessages(path, until)),
  openReader: ({ state, session, stats, knowsAll }) => {
    const conversation = new Conversation(state, session, stats);
    return {
      read: (numbered) => {
        const id = getText(numbered.row, 'id');
        const isDead = id !== null && state.dead.has(id);
        if (!knowsAll && (isDead || '$rewindTo' in numbered.row)) return null;
        return isDead ? [] : readRow(numbered, conversation, stats);
      },
      finish: () => conversation.finish(),
    };
  },
};

function* readRow({ row, line }: NumberedRow, conversation: Conversation, stats: ReadStats): Generator<Event> {
  if (getText(row, 'id') !== null) yield* conversation.read(row, line);
  else if ('$set' in row) yield* conversation.replace(getRow(row, '$set').messages, line);
  else if (!('$rewindTo' in row || isHeader(row))) countUnknown(stats, '(no id)');
}

function isHeader({ sessionId, projectHash }: Row): boolean {
  return typeof sessionId === 'string' && typeof projectHash === 'string';
}

const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** Older versions rewrite one document after each message. Its messages are numbered in place of lines. */
function* readDocument(session: FoundSession, stats: ReadStats): Generator<Event> {
  const conversation = new Conversation(startState(new Set()), session, stats);
  const text = readHead(session.path, MAX_DOCUMENT_BYTES)?.bytes.toString('utf8') ?? '';
  const document = parseRow(text);
  stats.rows++;
  if (document === null) {
    stats.unreadable++;
    return;
  }
  for (const [index, row] of toRows(document.messages).entries()) {
    stats.rows++;
    yield* conversation.read(row, index + 1);
  }
  yield* conversation.finish();
}

const API_ERROR = /API Error|quota|rate.?limit|RESOURCE_EXHAUSTED|overloaded|\b(?:429|503|529)\b/i;

/** What the program notes when the human stops it. */
const CANCELLED = /^(?:Request cancelled\.|User cancelled the request\.)$/;

/** A message is written again, whole, when something is added: the latest is held back until another follows. */
class Conversation {
  readonly #state: LogState;
  readonly #stats: ReadStats;
  readonly #session: FoundSession;
  readonly #files: TouchedFiles;

  constructor(state: LogState, session: FoundSession, stats: ReadStats) {
    this.#state = state;
    this.#stats = stats;
    this.#session = session;
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

  /** A rewritten list repeats or leaves out the rest: new are only a summary, and messages where there were none. */
  *replace(messages: unknown, line: number): Generator<Event> {
    if (!Array.isArray(messages)) return;
    yield* this.finish();
    const rows = toRows(messages);
    const summary = rows.find((row) => row.type === 'user' && readTexts(row.content).some(isSummary));
    if (summary !== undefined) {
      const id = getText(summary, 'id') ?? '';
      if (!this.#state.read.has(id))
        yield make.compaction(this.#stamp(summary, line), readTexts(summary.content).join('\n'));
      this.#state.read.add(id);
    } else if (this.#state.read.size === 0) {
      for (const row of rows) yield* this.#readMessage({ row, line });
    }
  }

  #stamp(row: Row, line: number): make.Stamp {
    const [id, model] = [getText(row, 'id'), getText(row, 'model')];
    return make.stamp({ at: toTimestamp(row.timestamp), line, id, cwd: this.#session.cwd, model });
  }

  *#readMessage({ row, line }: NumberedRow): Generator<Event> {
    const stamp = this.#stamp(row, line);
    const id = getText(row, 'id') ?? '';
    const texts = readTexts(row.content);
    const isNew = !this.#state.read.has(id);
    if (row.type === 'user') {
      if (isNew) yield* this.#readUser(row, stamp);
    } else if (row.type === 'gemini') yield* this.#readGemini(row, stamp, isNew);
    else if (row.type === 'error') {
      const text = texts.join('\n');
      if (isNew && API_ERROR.test(text)) yield make.limit(stamp, text);
    } else if (row.type === 'info') {
      if (isNew && CANCELLED.test(texts.join('\n'))) yield make.interruption(stamp);
    } else if (row.type !== 'warning') {
      countUnknown(this.#stats, getText(row, 'type') ?? '(no type)');
    }
    // The context at the head of each session is not a message.
    if (!texts.some((text) => text.startsWith('<session_context>'))) this.#state.read.add(id);
  }

  *#readUser(row: Row, stamp: make.Stamp): Generator<Event> {
    for (const part of toRows(row.content)) {
      const response = getRow(part, 'functionResponse');
      const id = getText(response, 'id');
      if (id !== null) yield* this.#readResponse(id, response, stamp);
    }
    const texts = readTexts(row.content);
    if (texts.some(isSummary)) {
      yield make.compaction(stamp, texts.join('\n'));
      return;
    }
    const { text, added } = readHuman(row);
    for (const context of added) yield* make.injected(stamp, context);
    if (text !== null && this.#session.parent === null) yield* make.prompt(stamp, text);
  }

  *#readGemini(row: Row, stamp: make.Stamp, isNew: boolean): Generator<Event> {
    const text = readTexts(row.content).join('\n');
    if (isNew && text !== ACKNOWLEDGEMENT) yield* make.reply(stamp, text);
    for (const part of toRows(row.content)) yield* this.#readCall(getRow(part, 'functionCall'), stamp);
    for (const call of toRows(row.toolCalls)) {
      const at = toTimestamp(call.timestamp);
      yield* this.#readToolCall(call, at === null ? stamp : { ...stamp, at });
    }
  }

  *#readCall(call: Row, stamp: make.Stamp): Generator<Event> {
    const id = getText(call, 'id');
    const tool = getText(call, 'name');
    if (id === null || tool === null || this.#state.calls.has(id) || this.#state.answered.has(id)) return;
    const input = getRow(call, 'args');
    this.#state.calls.set(id, toOpenCall(tool, input));
    const output = readText(getRow(readResponse(call), 'response'));
    const details = { id, tool, input, cwd: this.#session.cwd, output, display: call.resultDisplay };
    yield* makeToolCall(stamp, details, this.#files);
  }

  *#readToolCall(call: Row, stamp: make.Stamp): Generator<Event> {
    yield* this.#readCall(call, stamp);
    const id = getText(call, 'id');
    const { status } = call;
    if (id === null || (status !== 'success' && status !== 'error' && status !== 'cancelled')) return;
    yield* this.#readResponse(id, readResponse(call), stamp, status === 'success');
  }

  *#readResponse(id: string, response: Row, stamp: make.Stamp, isFine?: boolean): Generator<Event> {
    const call = takeCall(this.#state.calls, id);
    if (call === undefined) return;
    this.#state.answered.add(id);
    yield* makeToolResult(stamp, call, { id, ...readOutcome(call, getRow(response, 'response'), isFine) });
  }
}

/** What the tool returned, in the record of a finished call. */
function readResponse(call: Row): Row {
  return getRow(toRows(call.result)[0] ?? {}, 'functionResponse');
}

const UNTRUSTED = /^<untrusted_context>\n?([\s\S]*?)\n?<\/untrusted_context>\s*$/;

function readText(body: Row): string {
  const text = getText(body, 'output', 'error') ?? '';
  return UNTRUSTED.exec(text)?.[1] ?? text;
}

function readOutcome({ tool }: OpenCall, body: Row, isFine = !('error' in body)): Omit<make.CallOutcome, 'id'> {
  const text = readText(body);
  const shell = tool === 'run_shell_command' ? readShellOutput(text) : null;
  if (shell === null) return { ok: isFine, exit: null, output: text };
  const { exit, output } = shell;
  return { ok: isFine && exit === 0, exit: isFine || exit !== 0 ? exit : null, output };
}

const REWIND = Buffer.from('{"$rewindTo":');
const MESSAGE = Buffer.from('{"id":"');
const ID = toKey('id');

/** The ids of rewound messages: a rewind drops the message that it names, if that is known, and all after it. */
function findRewoundMessages(path: string, until: number): Set<string> {
  const live = new Set<string>();
  const dead = new Set<string>();
  for (const { bytes } of readLines(path, { until })) {
    if (bytes.subarray(0, MESSAGE.length).equals(MESSAGE)) {
      const id = peekText(bytes, ID);
      if (dead.has(id) && parseRow(bytes.toString('utf8')) === null) continue;
      live.add(id);
      dead.delete(id);
    } else if (bytes.subarray(0, REWIND.length).equals(REWIND)) {
      const target = getText(parseRow(bytes.toString('utf8')) ?? {}, '$rewindTo');
      if (target === null || !live.has(target)) continue;
      const ids = [...live];
      for (const id of ids.slice(ids.indexOf(target))) {
        live.delete(id);
        dead.add(id);
      }
    }
  }
  return dead;
}
