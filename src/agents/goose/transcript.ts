import type { Action, Event, PlanItem } from '../../model/event.ts';
import { formatTimestamp } from '../../model/time.ts';
import type { SqlDatabase } from '../../platform/sqlite.ts';
import { type Agent, countUnknown, type FoundSession, type ReadStats } from '../agent.ts';
import { readExitStatus, type ToolCall } from '../shared/actions.ts';
import { isDatabase, readDatabaseSession, selectFrom, type Table, tryQuery } from '../shared/database.ts';
import { resolveFilePath, TouchedFiles } from '../shared/files.ts';
import {
  asRow,
  getCleanText,
  getNumber,
  getRow,
  getText,
  parseAny,
  parseRow,
  type Row,
  toRows,
} from '../shared/json.ts';
import { readJsonLines } from '../shared/json-lines.ts';
import * as make from '../shared/make-events.ts';
import { describeMcpFileCall } from '../shared/mcp-files.ts';
import { collectTexts, listBlockTexts } from '../shared/message-text.ts';
import { sortResults } from '../shared/result-order.ts';
import { findSessions, inspectFile, listTranscripts, SESSION_TABLE, toMilliseconds } from './sessions.ts';

const readSorted: Agent['readEvents'] = (session, stats) => sortResults(readEvents(session, stats));

export const gooseAgent: Agent = { name: 'goose', findSessions, listTranscripts, inspectFile, readEvents: readSorted };

function* readEvents(session: FoundSession, stats: ReadStats): Generator<Event> {
  if (!isDatabase(session.path)) {
    yield* readMessages(listFileMessages(session.path, stats), new MessageReader(session.cwd, null, stats));
    return;
  }
  yield* readDatabaseSession({ session, table: SESSION_TABLE, stats }, (row, database) => {
    const model = getText(parseRow(getText(row, 'model_config_json') ?? '') ?? {}, 'model_name');
    const reader = new MessageReader(getText(row, 'working_dir'), model, stats);
    return readMessages(listDatabaseMessages(database, session.id, stats), reader);
  });
}

function* readMessages(messages: Iterable<Message>, reader: MessageReader): Generator<Event> {
  for (const message of messages) yield* reader.read(message);
}

const MESSAGE_TABLE: Table = {
  name: 'messages',
  columns: {
    message_id: 'text',
    role: 'text',
    content_json: 'text',
    created_timestamp: 'number',
    metadata_json: 'text',
  },
};

/** Fetched one by one: a session may not fit into memory. */
function* listDatabaseMessages(database: SqlDatabase, id: string, stats: ReadStats): Generator<Message> {
  const query = tryQuery(() => {
    const select = selectFrom(database, MESSAGE_TABLE);
    return select === null ? null : database.prepare(`${select} WHERE rowid = ?`);
  });
  const sql =
    'SELECT CAST(rowid AS REAL) AS number FROM messages WHERE session_id = ? ORDER BY created_timestamp, rowid';
  const numbers = tryQuery(() => toRows(database.prepare(sql).all(id)));
  if (query === null || numbers === null) {
    stats.unreadable++;
    return;
  }
  for (const [index, { number }] of numbers.entries()) {
    stats.rows++;
    const row = tryQuery(() => asRow(query.get(typeof number === 'number' ? number : null)));
    const content = row === null ? null : parseAny(getText(row, 'content_json') ?? '');
    if (row === null || !Array.isArray(content)) stats.unreadable++;
    else
      yield {
        line: index + 1,
        id: getText(row, 'message_id'),
        role: getText(row, 'role') ?? '',
        created: getNumber(row, 'created_timestamp'),
        content,
        metadata: parseRow(getText(row, 'metadata_json') ?? '') ?? {},
      };
  }
}

function* listFileMessages(path: string, stats: ReadStats): Generator<Message> {
  for (const { row, line } of readJsonLines(path, stats)) {
    if (getText(row, 'working_dir') !== null && !('role' in row)) continue;
    yield {
      line,
      id: getText(row, 'id'),
      role: getText(row, 'role') ?? '',
      created: getNumber(row, 'created'),
      content: row.content,
      metadata: getRow(row, 'metadata'),
    };
  }
}

interface Message {
  line: number;
  id: string | null;
  role: string;
  /** Seconds or milliseconds since 1970. */
  created: number | null;
  content: unknown;
  metadata: Row;
}

/** Parts without an event. `toolConfirmationRequest` repeats a call, old releases wrote `conversationCompacted`. */
const IGNORED = new Set(
  'image thinking redactedThinking reasoning toolConfirmationRequest conversationCompacted'.split(' '),
);

const ERROR_REPLY = /^(?:Ran into this error|Network error): /;

/** Reads the messages of one session, in order. */
class MessageReader {
  readonly #cwd: string | null;
  readonly #model: string | null;
  readonly #stats: ReadStats;
  readonly #files = new TouchedFiles();
  readonly #commands = new Set<string>();
  readonly #plans = new Set<string>();
  /** A text for the model only: the summary of a compaction if a message of the agent to itself follows. */
  #summary: { stamp: make.Stamp; text: string } | null = null;
  #lastPrompt: string | null = null;
  #isAfterCompaction = false;

  constructor(cwd: string | null, model: string | null, stats: ReadStats) {
    this.#cwd = cwd;
    this.#model = model;
    this.#stats = stats;
  }

  *read({ line, id, role, created, content, metadata }: Message): Generator<Event> {
    if (role !== 'user' && role !== 'assistant') return countUnknown(this.#stats, `message ${role}`.trim());
    const ms = toMilliseconds(created);
    const at = ms === null ? null : formatTimestamp(ms);
    const stamp = make.stamp({ at, line, id, cwd: this.#cwd, model: this.#model });
    const parts = toRows(content);
    if (metadata.userVisible !== false) yield* this.#readParts(stamp, parts, role);
    else if (metadata.agentVisible !== false) yield* this.#readModelOnly(stamp, parts, role);
  }

  /** A compaction is a summary, a message to itself, and the last prompt again. Other such texts replace results. */
  *#readModelOnly(stamp: make.Stamp, parts: Row[], role: 'user' | 'assistant'): Generator<Event> {
    const text = parts.map((part) => getText(part, 'text') ?? '').join('\n');
    if (role === 'user') this.#summary = { stamp, text };
    else if (this.#summary !== null) {
      yield make.compaction(this.#summary.stamp, this.#summary.text);
      this.#summary = null;
      this.#isAfterCompaction = true;
    }
  }

  *#readParts(stamp: make.Stamp, parts: Row[], role: 'user' | 'assistant'): Generator<Event> {
    this.#summary = null;
    const isAfterCompaction = this.#isAfterCompaction;
    this.#isAfterCompaction = false;
    for (const part of parts) {
      const text = getText(part, 'text') ?? '';
      if (part.type !== 'text') yield* this.#readPart(stamp, part);
      else if (role === 'assistant') {
        if (ERROR_REPLY.test(text)) yield make.limit(stamp, text);
        else yield* make.reply(stamp, text);
      } else if (isForAudience(part, 'user') && !(isAfterCompaction && text === this.#lastPrompt)) {
        this.#lastPrompt = text;
        yield* make.prompt(stamp, text);
      }
    }
  }

  *#readPart(stamp: make.Stamp, part: Row): Generator<Event> {
    const type = getText(part, 'type') ?? '';
    if (type === 'toolRequest' || type === 'frontendToolRequest') yield* this.#readRequest(stamp, part);
    else if (type === 'toolResponse') yield* this.#readResponse(stamp, part);
    else if (type === 'actionRequired') yield* readQuestion(stamp, getRow(part, 'data'));
    else if (type === 'systemNotification') {
      if (part.notificationType === 'creditsExhausted') yield make.limit(stamp, getText(part, 'msg') ?? '');
    } else if (!IGNORED.has(type)) countUnknown(this.#stats, `content ${type}`.trim());
  }

  *#readRequest(stamp: make.Stamp, part: Row): Generator<Event> {
    const id = getText(part, 'id') ?? '';
    const call = getRow(getRow(part, 'toolCall'), 'value');
    const name = getText(call, 'name');
    if (name === null) return;
    // The extension's name comes before that of its tool, unless the extension is built in.
    const tool = name.replace(/^.*__/s, '');
    const input = getRow(call, 'arguments');
    if (tool === 'todo_write' || tool === 'todo_read') {
      this.#plans.add(id);
      if (tool === 'todo_write') yield make.plan(stamp, readPlan(getText(input, 'content') ?? ''));
      return;
    }
    const action = readAction({ tool, input, cwd: this.#cwd }, this.#files);
    if (action.kind === 'command') this.#commands.add(id);
    yield make.call(stamp, { id, tool: name, action });
  }

  *#readResponse(stamp: make.Stamp, part: Row): Generator<Event> {
    const id = getText(part, 'id') ?? '';
    if (this.#plans.delete(id)) return;
    const result = getRow(part, 'toolResult');
    const value = asRow(result.value);
    const content = toRows(value === null ? result.value : value.content);
    const failed = result.status === 'error' || value?.isError === true;
    const output = failed && content.length === 0 ? (getText(result, 'error') ?? '') : joinText(content);
    const reported = getNumber(getRow(value ?? {}, 'structuredContent'), 'exit_code');
    const exit = this.#commands.delete(id) ? (reported ?? readExitStatus(output)) : null;
    yield make.result(stamp, { id, ok: !failed && (exit === null || exit === 0), exit, output });
  }
}

function isForAudience(part: Row, reader: 'user' | 'assistant'): boolean {
  const audience = getRow(part, 'annotations').audience ?? part.audience;
  return !Array.isArray(audience) || audience.length === 0 || audience.includes(reader);
}

/** Some tools return two texts, one for the model and one for the human. */
function joinText(content: Row[]): string {
  const forModel = content.filter((part) => isForAudience(part, 'assistant'));
  return listBlockTexts(forModel.length === 0 ? content : forModel).join('\n');
}

function* readQuestion(stamp: make.Stamp, data: Row): Generator<Event> {
  const id = getText(data, 'id') ?? '';
  if (data.actionType === 'elicitation') {
    const question = getCleanText(data, 'message');
    yield make.call(stamp, { id, tool: 'elicitation', action: { kind: 'ask', question } });
  } else if (data.actionType === 'elicitationResponse') {
    yield* make.prompt(stamp, collectTexts(data.userData ?? data.user_data).join('\n'));
  }
}

const ITEM = /^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[(.)\]\s*)?(\S.*)$/;

/** Goose keeps its plan as one Markdown text. Lines that are not list items are headings or notes. */
function readPlan(content: string): PlanItem[] {
  const lines = content.toWellFormed().split('\n');
  return lines.flatMap((line) => {
    const [, mark, text] = ITEM.exec(line) ?? [];
    return text === undefined ? [] : [{ text: text.trimEnd(), status: readMark(mark) }];
  });
}

function readMark(mark: string | undefined): PlanItem['status'] {
  if (mark === 'x' || mark === 'X' || mark === '✓') return 'completed';
  return mark === '~' || mark === '/' || mark === '>' ? 'in_progress' : 'pending';
}

/** `tool` is without the name of the extension. */
export function readAction({ tool, input, cwd }: ToolCall, files: TouchedFiles): Action {
  const given = getText(input, 'path', 'file_path');
  const path = given === null ? null : resolveFilePath(given, cwd);
  switch (tool) {
    case 'shell':
      return { kind: 'command', command: getCleanText(input, 'command'), background: false };
    case 'text_editor':
    case 'str_replace_editor':
      return readEditor(input, path ?? '', files);
    case 'read':
    case 'read_file':
    case 'view':
      return files.read(path ?? '');
    case 'write':
      return { kind: 'edit', edits: [files.write(path ?? '', getCleanText(input, 'content'))] };
    case 'edit': {
      const before = getCleanText(input, 'before');
      return { kind: 'edit', edits: [files.edit(path ?? '', before, getCleanText(input, 'after'))] };
    }
    case 'tree':
    case 'list_files':
      return { kind: 'search', pattern: '', path };
    case 'glob':
    case 'search':
    case 'ripgrep':
      return { kind: 'search', pattern: getText(input, 'pattern', 'query') ?? '', path };
    case 'web_fetch':
    case 'web_scrape':
    case 'fetch':
      return { kind: 'fetch', url: getCleanText(input, 'url') };
    case 'delegate':
    case 'subagent':
      return { kind: 'delegate', task: getText(input, 'instructions', 'task', 'prompt') ?? '' };
    default:
      return describeMcpFileCall({ tool, input, cwd }, files) ?? { kind: 'other', texts: collectTexts(input) };
  }
}

/** One tool for everything that can be done to a file, in releases up to 1.2x. */
function readEditor(input: Row, path: string, files: TouchedFiles): Action {
  switch (getText(input, 'command')) {
    case 'view':
      return files.read(path);
    case 'write':
    case 'create':
      return { kind: 'edit', edits: [files.write(path, getCleanText(input, 'file_text'))] };
    case 'str_replace':
    case 'edit_file':
    case 'insert': {
      const after = getCleanText(input, 'new_str', 'code_edit', 'diff');
      return { kind: 'edit', edits: [files.edit(path, getCleanText(input, 'old_str'), after)] };
    }
    default:
      return { kind: 'other', texts: collectTexts(input) };
  }
}
