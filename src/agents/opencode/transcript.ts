import type { Action, Event, FileEdit, PlanItem } from '../../model/event.ts';
import type { SqlDatabase, SqlStatement } from '../../platform/sqlite.ts';
import { type Agent, countUnknown, type FoundSession, type ReadStats } from '../agent.ts';
import { resolveEdit, type ToolCall, toStatus } from '../shared/actions.ts';
import { isDatabase, readDatabaseSession, selectFrom, tryQuery } from '../shared/database.ts';
import { resolveFilePath, TouchedFiles } from '../shared/files.ts';
import {
  asRow,
  getCleanText,
  getNumber,
  getRow,
  getText,
  parseRow,
  type Row,
  toRows,
  toTimestamp,
} from '../shared/json.ts';
import * as make from '../shared/make-events.ts';
import { describeMcpFileCall } from '../shared/mcp-files.ts';
import { collectTexts } from '../shared/message-text.ts';
import { parsePatch } from '../shared/patch.ts';
import { sortResults } from '../shared/result-order.ts';
import { findSessions, inspectFile, listTranscripts, readExport, SESSION_TABLE } from './sessions.ts';

const readEvents: Agent['readEvents'] = (session, stats) => sortResults(readUnsorted(session, stats));

export const opencodeAgent: Agent = { name: 'opencode', findSessions, listTranscripts, inspectFile, readEvents };

type Part = { id: string; data: Row };
type Message = { id: string; info: Row; parts: Iterable<Part> };

function* readUnsorted(session: FoundSession, stats: ReadStats): Generator<Event> {
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

/** Parts without an event: boundaries of steps, attachments, what is also in other parts. */
const IGNORED = new Set('file step-start step-finish snapshot patch agent subtask'.split(' '));

/** Reads the messages of one session, in order. */
class MessageReader {
  readonly #sessionCwd: string | null;
  readonly #stats: ReadStats;
  readonly #files = new TouchedFiles();
  /** A compaction that was requested, until the message with its summary comes. */
  #compaction: make.Stamp | null = null;
  #line = 0;

  constructor(cwd: string | null, stats: ReadStats) {
    this.#sessionCwd = cwd;
    this.#stats = stats;
  }

  *finish(): Generator<Event> {
    if (this.#compaction !== null) yield make.compaction(this.#compaction, null);
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
    yield make.compaction(stamp, texts.join('\n'));
  }

  *#readPart(part: Part, info: Row, role: 'user' | 'assistant'): Generator<Event> {
    this.#stats.rows++;
    this.#line++;
    const type = getText(part.data, 'type');
    const stamp = this.#stampOf(part, info);
    if (type === 'text') yield* readText(stamp, part.data, role);
    else if (type === 'reasoning') yield* make.thought(stamp, getText(part.data, 'text') ?? '');
    else if (type === 'tool') yield* this.#readTool(stamp, part);
    else if (type === 'compaction') this.#compaction = stamp;
    else if (type === 'retry') yield make.limit(stamp, readError(getRow(part.data, 'error')));
    else if (type === null || !IGNORED.has(type)) countUnknown(this.#stats, `part ${type ?? ''}`.trim());
  }

  *#readTool(stamp: make.Stamp, part: Part): Generator<Event> {
    const tool = getText(part.data, 'tool') ?? '';
    const state = getRow(part.data, 'state');
    const input = getRow(state, 'input');
    const metadata = getRow(state, 'metadata');
    const status = getText(state, 'status');
    if (tool === 'todowrite' && status !== 'error') yield make.plan(stamp, readPlan(input));
    if (tool === 'todoread' || tool === 'todowrite') return;
    const id = getText(part.data, 'callID') ?? part.id;
    const action = readAction({ tool, input, metadata, cwd: stamp.cwd ?? null }, this.#files);
    yield make.call(stamp, { id, tool, action });
    if (status !== 'completed' && status !== 'error') return;
    const ended = { ...stamp, at: toTimestamp(getRow(state, 'time').end) ?? stamp.at };
    const answers = tool === 'question' ? readAnswers(input, metadata) : null;
    const exit = getNumber(metadata, 'exit');
    const ok = status === 'completed' && (exit === null || exit === 0);
    if (answers !== null) yield* make.prompt(ended, answers);
    else yield make.result(ended, { id, ok, exit, output: readOutput(tool, state) });
  }

  /** An interrupt by the human is also recorded as an error. */
  *#readError(id: string, info: Row): Generator<Event> {
    const error = getRow(info, 'error');
    const name = getText(error, 'name');
    if (name === null) return;
    const stamp = this.#stampOf({ id, data: {} }, info);
    yield name === 'MessageAbortedError' ? make.interruption(stamp) : make.limit(stamp, readError(error));
  }

  #stampOf({ id, data }: Part, info: Row): make.Stamp {
    const time = getRow(data, 'time').start ?? getRow(getRow(data, 'state'), 'time').start;
    const at = toTimestamp(time) ?? toTimestamp(getRow(info, 'time').created);
    const cwd = getText(getRow(info, 'path'), 'cwd') ?? this.#sessionCwd;
    const model = getText(info, 'modelID') ?? getText(getRow(info, 'model'), 'modelID');
    return make.stamp({ at, line: this.#line, id: id || null, cwd, model });
  }
}

/** Synthetic text is OpenCode's or a plugin's; ignored text is shown to the human only. */
function* readText(stamp: make.Stamp, data: Row, role: 'user' | 'assistant'): Generator<Event> {
  const text = getText(data, 'text') ?? '';
  if (data.synthetic === true || data.ignored === true) yield* make.injected(stamp, text);
  else yield* role === 'user' ? make.prompt(stamp, text) : make.reply(stamp, text);
}

function readError(error: Row): string {
  return getText(getRow(error, 'data'), 'message') ?? getText(error, 'message', 'name') ?? '';
}

interface NotedCall extends ToolCall {
  /** What OpenCode notes about the run, once there is one. */
  metadata: Row;
}

export function readAction(call: NotedCall, files: TouchedFiles): Action {
  const { tool, input, cwd } = call;
  const given = getText(input, 'filePath', 'path', 'filepath');
  const path = given === null ? null : resolveFilePath(given, cwd);
  switch (tool) {
    case 'bash':
    case 'shell':
      return { kind: 'command', command: getCleanText(input, 'command'), background: false };
    case 'read':
      return path === null ? { kind: 'read', path: '' } : files.read(path);
    case 'list':
    case 'ls':
      return { kind: 'search', pattern: '', path };
    case 'grep':
    case 'glob':
      return { kind: 'search', pattern: getCleanText(input, 'pattern'), path };
    case 'edit':
    case 'multiedit':
    case 'write':
    case 'apply_patch':
    case 'patch':
      return { kind: 'edit', edits: readEdits(call, path ?? '', files) };
    case 'webfetch':
      return { kind: 'fetch', url: getCleanText(input, 'url') };
    case 'task':
      return { kind: 'delegate', task: getCleanText(input, 'prompt', 'description') };
    case 'question':
      return { kind: 'ask', question: readQuestions(input).join('\n') };
    default:
      return describeMcpFileCall(call, files) ?? { kind: 'other', texts: collectTexts(input) };
  }
}

function readEdits(call: NotedCall, path: string, files: TouchedFiles): FileEdit[] {
  const { tool, input, metadata, cwd } = call;
  const patch = getText(input, 'patchText');
  if (patch !== null) return parsePatch(patch.toWellFormed()).map((edit) => resolveEdit(edit, cwd));
  if (tool === 'write') {
    const edit = files.write(path, getCleanText(input, 'content'));
    const existed = metadata.exists;
    return [typeof existed === 'boolean' ? { ...edit, change: existed ? 'edited' : 'created' } : edit];
  }
  const changes = tool === 'multiedit' ? toRows(input.edits) : [input];
  return changes.map((edit) => files.replace(path, getCleanText(edit, 'oldString'), getCleanText(edit, 'newString')));
}

function readQuestions(input: Row): string[] {
  return toRows(input.questions).map((question) => getCleanText(question, 'question'));
}

/** What the human answered, each answer with its question where there were several. */
export function readAnswers(input: Row, metadata: Row): string | null {
  if (!Array.isArray(metadata.answers)) return null;
  const questions = readQuestions(input);
  const answers = metadata.answers.map((answer) => collectTexts(answer).join(', '));
  if (answers.length === 1) return answers[0] ?? null;
  return answers.map((answer, index) => `${questions[index] ?? ''} ${answer}`.trim()).join('\n');
}

export function readPlan(input: Row): PlanItem[] {
  return toRows(input.todos).map((todo) => ({ text: getCleanText(todo, 'content'), status: toStatus(todo.status) }));
}

/** The text of a result: for a file that was read the file's own text, without OpenCode's line numbers. */
export function readOutput(tool: string, state: Row): string {
  const shown = getRow(getRow(state, 'metadata'), 'display');
  const text = tool === 'read' && shown.type === 'file' ? getText(shown, 'text') : null;
  return text ?? getText(state, 'output', 'error') ?? '';
}
