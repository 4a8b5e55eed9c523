import type { Event } from '../../model/event.ts';
import type { SqlDatabase, SqlStatement } from '../../platform/sqlite.ts';
import type { Agent, FoundSession, ReadStats } from '../agent.ts';
import { isDatabase, readDatabaseSession, selectFrom, tryQuery } from '../shared/database.ts';
import { TouchedFiles } from '../shared/files.ts';
import { asRow, countUnknown, getNumber, getRow, getText, parseRow, type Row, toRows } from '../shared/json.ts';
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
import { readAction, readAnswers, readOutput, readPlan } from './actions.ts';
import { findSessions, inspectFile, listTranscripts, readExport, SESSION_TABLE } from './sessions.ts';

export const opencodeAgent: Agent = { name: 'opencode', findSessions, listTranscripts, inspectFile, readEvents };

type Part = { id: string; data: Row };
type Message = { id: string; info: Row; parts: Iterable<Part> };

function* readEvents(session: FoundSession, stats: ReadStats): Generator<Event> {
  stats.sessionId = session.id;
  if (isDatabase(session.path)) {
    yield* readDatabaseSession({ session, table: SESSION_TABLE, stats }, (row, database) => {
      stats.agentVersion = getText(row, 'version');
      const cwd = getText(row, 'directory');
      const revert = parseRow(getText(row, 'revert') ?? '');
      return readConversation(listMessages(database, session.id, stats), { cwd, revert }, stats);
    });
    return;
  }
  const content = readExport(session.path)?.content;
  if (content === undefined) {
    stats.unreadable++;
    return;
  }
  const info = getRow(content, 'info');
  stats.agentVersion = getText(info, 'version');
  const messages = toRows(content.messages).map(toMessage);
  const place = { cwd: getText(info, 'directory'), revert: asRow(info.revert) };
  yield* readConversation(messages, place, stats);
}

function toMessage(row: Row): Message {
  const info = getRow(row, 'info');
  const parts = toRows(row.parts).map((data) => ({ id: getText(data, 'id') ?? '', data }));
  return { id: getText(info, 'id') ?? '', info, parts };
}

/** Fetched one by one: a session may not fit into memory. */
function* listMessages(database: SqlDatabase, id: string, stats: ReadStats): Generator<Message> {
  const queries = tryQuery(() => prepareQueries(database));
  const ids = queries === null ? null : tryQuery(() => toRows(queries.ids.all(id)));
  if (queries === null || ids === null) {
    stats.unreadable++;
    return;
  }
  for (const row of ids) {
    const messageId = getText(row, 'id') ?? '';
    const message = tryQuery(() => asRow(queries.message.get(messageId)));
    const info = message === null ? null : parseRow(getText(message, 'data') ?? '');
    if (info === null) stats.unreadable++;
    else yield { id: messageId, info, parts: listParts(queries.parts, messageId, stats) };
  }
}

function prepareQueries(database: SqlDatabase): Record<'ids' | 'message' | 'parts', SqlStatement> {
  const from = (name: string): string =>
    selectFrom(database, { name, columns: { id: 'text', data: 'text' } }) ?? `SELECT * FROM ${name}`;
  return {
    ids: database.prepare('SELECT CAST(id AS TEXT) AS id FROM message WHERE session_id = ? ORDER BY time_created, id'),
    message: database.prepare(`${from('message')} WHERE id = ?`),
    parts: database.prepare(`${from('part')} WHERE message_id = ? ORDER BY id`),
  };
}

function* listParts(query: SqlStatement, messageId: string, stats: ReadStats): Generator<Part> {
  const rows = tryQuery(() => toRows(query.all(messageId)));
  if (rows === null) stats.unreadable++;
  for (const row of rows ?? []) {
    const data = parseRow(getText(row, 'data') ?? '');
    if (data === null) stats.unreadable++;
    else yield { id: getText(row, 'id') ?? '', data };
  }
}

/** From the `messageID` and perhaps `partID` in `revert` on, everything was reverted. */
function* readConversation(
  messages: Iterable<Message>,
  { cwd, revert }: { cwd: string | null; revert: Row | null },
  stats: ReadStats,
): Generator<Event> {
  const reader = new MessageReader(cwd, stats);
  const revertedPart = getText(revert ?? {}, 'partID');
  for (const message of messages) {
    const isEnd = message.id === revert?.messageID;
    if (isEnd && revertedPart === null) break;
    yield* reader.read(message, isEnd ? revertedPart : null);
    if (isEnd) break;
  }
  yield* reader.finish();
}

/** Parts without an event: boundaries of steps, thinking, attachments, what is also in other parts. */
const IGNORED = new Set('reasoning file step-start step-finish snapshot patch agent subtask'.split(' '));

/** Reads the messages of one session, in order. */
class MessageReader {
  readonly #sessionCwd: string | null;
  readonly #stats: ReadStats;
  readonly #files = new TouchedFiles();
  /** A compaction that was requested, until the message with its summary comes. */
  #compaction: Stamp | null = null;
  #line = 0;

  constructor(cwd: string | null, stats: ReadStats) {
    this.#sessionCwd = cwd;
    this.#stats = stats;
  }

  *finish(): Generator<Event> {
    if (this.#compaction !== null) yield makeCompaction(this.#compaction, null);
    this.#compaction = null;
  }

  *read({ id, info, parts }: Message, untilPart: string | null): Generator<Event> {
    this.#stats.rows++;
    const role = getText(info, 'role');
    if (role === 'assistant' && (info.summary === true || info.mode === 'compaction')) {
      return yield* this.#readSummary(info, parts);
    }
    yield* this.finish();
    if (role !== 'user' && role !== 'assistant') return countUnknown(this.#stats, `message ${role ?? ''}`.trim());
    for (const part of parts) {
      if (part.id === untilPart) return;
      yield* this.#readPart(part, info, role);
    }
    if (role === 'assistant') yield* this.#readError(id, info);
  }

  *#readSummary(info: Row, parts: Iterable<Part>): Generator<Event> {
    const texts: string[] = [];
    let last: Part | null = null;
    for (const part of parts) {
      this.#stats.rows++;
      this.#line++;
      last = part;
      if (part.data.type === 'text') texts.push(getText(part.data, 'text') ?? '');
    }
    const stamp = this.#compaction ?? this.#stampOf(last ?? { id: '', data: {} }, info);
    this.#compaction = null;
    yield makeCompaction(stamp, texts.join('\n'));
  }

  *#readPart(part: Part, info: Row, role: 'user' | 'assistant'): Generator<Event> {
    this.#stats.rows++;
    this.#line++;
    const type = getText(part.data, 'type');
    const stamp = this.#stampOf(part, info);
    if (type === 'text') yield* readText(stamp, part.data, role);
    else if (type === 'tool') yield* this.#readTool(stamp, part);
    else if (type === 'compaction') this.#compaction = stamp;
    else if (type === 'retry') yield makeLimit(stamp, readError(getRow(part.data, 'error')));
    else if (type === null || !IGNORED.has(type)) countUnknown(this.#stats, `part ${type ?? ''}`.trim());
  }

  *#readTool(stamp: Stamp, part: Part): Generator<Event> {
    const tool = getText(part.data, 'tool') ?? '';
    const state = getRow(part.data, 'state');
    const input = getRow(state, 'input');
    const metadata = getRow(state, 'metadata');
    const status = getText(state, 'status');
    if (tool === 'todowrite' && status !== 'error') yield makePlan(stamp, readPlan(input));
    if (tool === 'todoread' || tool === 'todowrite') return;
    const id = getText(part.data, 'callID') ?? part.id;
    const action = readAction({ tool, input, metadata, cwd: stamp.cwd ?? null }, this.#files);
    yield makeCall(stamp, { id, tool, action });
    if (status !== 'completed' && status !== 'error') return;
    const ended = { ...stamp, at: toTimestamp(getRow(state, 'time').end) ?? stamp.at };
    const answers = tool === 'question' ? readAnswers(input, metadata) : null;
    const exit = getNumber(metadata, 'exit');
    const ok = status === 'completed' && (exit === null || exit === 0);
    if (answers !== null) yield* makePrompt(ended, answers);
    else yield makeResult(ended, { id, ok, exit, output: readOutput(tool, state) });
  }

  /** An interrupt by the human is recorded as an error too, but is none. */
  *#readError(id: string, info: Row): Generator<Event> {
    const error = getRow(info, 'error');
    const name = getText(error, 'name');
    if (name === null) return;
    const stamp = this.#stampOf({ id, data: {} }, info);
    yield name === 'MessageAbortedError' ? makeInterruption(stamp) : makeLimit(stamp, readError(error));
  }

  #stampOf({ id, data }: Part, info: Row): Stamp {
    const time = getRow(data, 'time').start ?? getRow(getRow(data, 'state'), 'time').start;
    const at = toTimestamp(time) ?? toTimestamp(getRow(info, 'time').created);
    const cwd = getText(getRow(info, 'path'), 'cwd') ?? this.#sessionCwd;
    const model = getText(info, 'modelID') ?? getText(getRow(info, 'model'), 'modelID');
    return makeStamp({ at, line: this.#line, id: id || null, cwd, model });
  }
}

/** Synthetic text is OpenCode's or a plugin's; ignored text is shown to the human only. */
function* readText(stamp: Stamp, data: Row, role: 'user' | 'assistant'): Generator<Event> {
  const text = getText(data, 'text') ?? '';
  if (data.synthetic === true || data.ignored === true) yield* makeInjected(stamp, text);
  else yield* role === 'user' ? makePrompt(stamp, text) : makeReply(stamp, text);
}

function readError(error: Row): string {
  return getText(getRow(error, 'data'), 'message') ?? getText(error, 'message', 'name') ?? '';
}
