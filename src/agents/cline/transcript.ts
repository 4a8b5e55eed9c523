import type { Action, Event } from '../../model/event.ts';
import { readHead } from '../../platform/external-file.ts';
import { type Agent, countUnknown, countUnreadable, type FoundSession, type ReadStats } from '../agent.ts';
import { makeOtherAction, makePatchAction, makeTextAction } from '../shared/actions.ts';
import { resolveFilePath, TouchedFiles } from '../shared/files.ts';
import {
  asRow,
  getNumber,
  getRow,
  getText,
  parseAny,
  parseRow,
  type Row,
  toRows,
  toTimestamp,
} from '../shared/json.ts';
import * as make from '../shared/make-events.ts';
import { describeMcpFileCall } from '../shared/mcp-files.ts';
import { listBlockTexts, toBlocks } from '../shared/message-text.ts';
import { takeCall } from '../shared/pending-events.ts';
import { sortResults } from '../shared/result-order.ts';
import { readAddedTexts, readHumanText } from './prompts.ts';
import { findCompanion, findSessions, inspectFile, isSessionFile, listTranscripts, readManifest } from './sessions.ts';
import { TaskReader } from './tasks.ts';

export const clineAgent: Agent = {
  name: 'cline',
  findSessions,
  listTranscripts,
  inspectFile,
  readEvents: (session, stats) => sortResults((isSessionFile(session.path) ? readSession : readTask)(session, stats)),
};

/** Files are rewritten as a whole after each message, and read as a whole. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** Undefined when the file cannot be read or is not JSON. */
function readJsonFile(path: string): unknown {
  const file = readHead(path, MAX_FILE_BYTES);
  return file === null || file.size > MAX_FILE_BYTES ? undefined : parseAny(file.bytes.toString('utf8'));
}

/** Null for anything but an object, which counts as unreadable. */
function readMessage(value: unknown, stats: ReadStats): Row | null {
  const message = asRow(value);
  if (message === null) countUnreadable(stats);
  else stats.rows++;
  return message;
}

function* readTask(session: FoundSession, stats: ReadStats): Generator<Event> {
  const messages = readJsonFile(session.path);
  if (!Array.isArray(messages)) return countUnreadable(stats);
  const reader = new TaskReader(session, stats);
  for (const [index, value] of messages.entries()) {
    const message = readMessage(value, stats);
    if (message !== null) yield* reader.read(message, index + 1);
  }
}

function* readSession(session: FoundSession, stats: ReadStats): Generator<Event> {
  const file = asRow(readJsonFile(session.path));
  if (file === null || !Array.isArray(file.messages)) return countUnreadable(stats);
  stats.agentVersion = getText(getRow(file, 'origin'), 'version');
  const reader = new SessionReader(session, stats);
  const compaction = readCompaction(session.path);
  const last = file.messages.length;
  for (const [index, value] of file.messages.entries()) {
    if (compaction?.after === index) yield reader.makeSummary(compaction, index);
    const message = readMessage(value, stats);
    if (message !== null) yield* reader.read(message, index + 1);
  }
  if (compaction !== null && compaction.after >= last) yield reader.makeSummary(compaction, last);
}

interface Compaction {
  /** How many messages it summarises. */
  after: number;
  at: string | null;
  summary: string | null;
}

/** The last compaction. All messages stay in place; the summary has a file of its own. */
function readCompaction(path: string): Compaction | null {
  const file = asRow(readJsonFile(findCompanion(path, '.compaction.json')));
  if (file === null) return null;
  const [first = {}] = toRows(file.messages);
  const metadata = getRow(first, 'metadata');
  const text = listBlockTexts(first.content).join('\n');
  return {
    after: getNumber(file, 'source_message_count') ?? 0,
    at: toTimestamp(metadata.generatedAt) ?? toTimestamp(file.updated_at),
    summary: getText(metadata, 'summary') ?? text.replace(/^Context summary:\s*/, ''),
  };
}

class SessionReader {
  readonly #session: FoundSession;
  readonly #stats: ReadStats;
  readonly #branch: string | null;
  /** The call events made of each call without a result so far. */
  readonly #open = new Map<string, { ids: string[]; asks: boolean }>();
  readonly #files = new TouchedFiles();
  #model: string | null = null;

  constructor(session: FoundSession, stats: ReadStats) {
    this.#session = session;
    this.#stats = stats;
    this.#branch = getText(getRow(getRow(readManifest(session.path), 'metadata'), 'git'), 'branch');
  }

  *read(message: Row, line: number): Generator<Event> {
    this.#model = getText(getRow(message, 'modelInfo'), 'id') ?? this.#model;
    const stamp = this.#stamp(line, getText(message, 'id'), toTimestamp(message.ts));
    const blocks = toBlocks(message.content);
    if (message.role === 'assistant') for (const block of blocks) yield* this.#readAssistant(stamp, block);
    else if (message.role === 'user') {
      for (const block of blocks) yield* this.#readUser(stamp, block, getRow(message, 'metadata'));
    } else countUnknown(this.#stats, `role/${getText(message, 'role') ?? ''}`);
  }

  makeSummary({ at, summary }: Compaction, line: number): Event {
    return make.compaction(this.#stamp(line, null, at), summary);
  }

  #stamp(line: number, id: string | null, at: string | null): make.Stamp {
    return make.stamp({ at, line, id, cwd: this.#session.cwd, model: this.#model, branch: this.#branch });
  }

  *#readAssistant(stamp: make.Stamp, block: Row): Generator<Event> {
    const type = getText(block, 'type') ?? '';
    if (type === 'text') yield* make.reply(stamp, getText(block, 'text') ?? '');
    else if (type === 'tool_use') yield* this.#readCall(stamp, block);
    else if (type !== 'thinking' && type !== 'redacted_thinking' && type !== 'reasoning') {
      countUnknown(this.#stats, `assistant/${type}`);
    }
  }

  *#readCall(stamp: make.Stamp, block: Row): Generator<Event> {
    const id = getText(block, 'id');
    const tool = getText(block, 'name') ?? '';
    if (id === null) return;
    const actions = toActions({ tool, input: block.input, cwd: this.#session.cwd }, this.#files);
    const ids = actions.map((_, index) => (actions.length === 1 ? id : `${id}.${index + 1}`));
    this.#open.set(id, { ids, asks: actions[0]?.kind === 'ask' });
    for (const [index, action] of actions.entries()) yield make.call(stamp, { id: ids[index] ?? id, tool, action });
  }

  *#readUser(stamp: make.Stamp, block: Row, metadata: Row): Generator<Event> {
    const type = getText(block, 'type') ?? '';
    if (type === 'text') {
      const text = getText(block, 'text') ?? '';
      for (const added of readAddedTexts(text)) yield* make.injected(stamp, added);
      const byProgram = metadata.displayRole === 'system' || getText(metadata, 'kind') !== null;
      if (byProgram || this.#session.parent !== null) return;
      yield* make.prompt(stamp, readHumanText(text) ?? '');
    } else if (type === 'tool_result') yield* this.#readResult(stamp, block);
    else if (type !== 'image' && type !== 'file' && type !== 'document') countUnknown(this.#stats, `user/${type}`);
  }

  *#readResult(stamp: make.Stamp, block: Row): Generator<Event> {
    const id = getText(block, 'tool_use_id');
    if (id === null) return;
    const call = takeCall(this.#open, id) ?? { ids: [id], asks: false };
    const results = readResults(block.content);
    const failed = block.is_error === true;
    if (call.asks && !failed) {
      for (const { output } of results) yield* make.prompt(stamp, output);
      return;
    }
    const outcomes = results.length === call.ids.length ? results : [joinResults(results)];
    for (const [index, result] of outcomes.entries()) {
      yield make.result(stamp, { ...result, id: call.ids[index] ?? id, ok: failed ? false : result.ok });
    }
  }
}

type Result = Omit<make.CallOutcome, 'id' | 'refused'>;

/** A result for each action of the call; a tool with one action may return plain text. */
function readResults(content: unknown): Result[] {
  if (typeof content === 'string') {
    const row = content.startsWith('{') ? parseRow(content) : null;
    return [row === null ? { ok: null, exit: null, output: content } : readResult(row, content)];
  }
  const parts = toRows(content);
  if (parts.every((part) => part.type === undefined)) return parts.map((part) => readResult(part, ''));
  return [{ ok: null, exit: null, output: listBlockTexts(parts).join('\n') }];
}

const EXITED = /\bCommand exited with code (-?\d{1,10})/;

function readResult(row: Row, whole: string): Result {
  const parts = listBlockTexts(row.content);
  if (parts.length > 0) return { ok: row.isError === true ? false : null, exit: null, output: parts.join('\n') };
  const ok = typeof row.success === 'boolean' ? row.success : null;
  const error = getText(row, 'error') ?? '';
  const result = getText(row, 'result') ?? listBlockTexts(row.result).join('\n');
  const exited = EXITED.exec(error)?.[1];
  const output = [result, error].filter((text) => text !== '').join('\n');
  const exit = exited === undefined ? null : Number(exited);
  return { ok, exit, output: ok === null && output === '' ? whole : output };
}

function joinResults(results: readonly Result[]): Result {
  const failed = results.find((result) => result.ok === false);
  const output = results.map((result) => result.output).join('\n');
  return { ok: failed === undefined ? (results[0]?.ok ?? null) : false, exit: failed?.exit ?? null, output };
}

/** What a tool call does. Some tools do several things in one call: each is an action of its own. */
function toActions(call: { tool: string; input: unknown; cwd: string | null }, files: TouchedFiles): Action[] {
  const { tool, input, cwd } = call;
  const known = toKnownActions(tool, input, cwd);
  const all = known.length > 0 ? known : [describeMcpFileCall({ tool, input: asRow(input) ?? {}, cwd }, files)];
  const actions = all.filter((action) => action !== null);
  return actions.length > 0 ? actions : [makeOtherAction(input)];
}

function toKnownActions(tool: string, input: unknown, cwd: string | null): (Action | null)[] {
  const fields = asRow(input) ?? {};
  switch (tool) {
    case 'read_files':
      return listOf(input, 'files', 'paths', 'file_paths').map((file) => {
        const path = typeof file === 'string' ? file : getText(asRow(file) ?? {}, 'path');
        return path === null ? null : { kind: 'read', path: resolveFilePath(path, cwd) };
      });
    case 'run_commands':
      return listOf(input, 'commands', 'command', 'cmd').map((command) => toCommand(command, fields));
    case 'search_codebase':
      return listOf(input, 'queries').map((query) => {
        const text = typeof query === 'string' ? query : null;
        return makeTextAction(text, (pattern) => ({ kind: 'search', pattern, path: null }));
      });
    case 'web_search':
      return [makeTextAction(getText(fields, 'query'), (pattern) => ({ kind: 'search', pattern, path: null }))];
    case 'fetch_web_content':
      return listOf(input, 'requests').map((request) => {
        return makeTextAction(getText(asRow(request) ?? {}, 'url'), (url) => ({ kind: 'fetch', url }));
      });
    case 'editor':
      return [toEdit(fields, cwd)];
    case 'apply_patch':
      return [makePatchAction(typeof input === 'string' ? input : getText(fields, 'input'), cwd)];
    case 'ask_question':
    case 'ask_followup_question':
      return [makeTextAction(getText(fields, 'question'), (question) => ({ kind: 'ask', question }))];
    case 'spawn_agent':
    case 'new_task':
      return [makeTextAction(getText(fields, 'task', 'prompt', 'context'), (task) => ({ kind: 'delegate', task }))];
    default:
      return [];
  }
}

/** Inputs may be a list, one thing, or an object that has either under one of the names. */
function listOf(input: unknown, ...names: readonly string[]): readonly unknown[] {
  const fields = asRow(input);
  const name = names.find((candidate) => fields?.[candidate] !== undefined);
  const value = fields === null || name === undefined ? input : fields[name];
  return Array.isArray(value) ? value : [value];
}

function toCommand(given: unknown, fields: Row): Action | null {
  const background = fields.background === true || fields.run_in_background === true;
  const { command, args } = asRow(given) ?? {};
  const words: unknown[] = [command, ...(Array.isArray(args) ? args : [])];
  const line = typeof given === 'string' ? given : words.filter((word) => typeof word === 'string').join(' ') || null;
  return makeTextAction(line, (text) => ({ kind: 'command', command: text, background }));
}

function toEdit(fields: Row, cwd: string | null): Action | null {
  const given = getText(fields, 'path');
  if (given === null) return null;
  const path = resolveFilePath(given, cwd);
  const old = getText(fields, 'old_text', 'old_str');
  const change = old === null && getNumber(fields, 'insert_line') === null ? 'created' : 'edited';
  const before = (old ?? '').toWellFormed();
  const after = (getText(fields, 'new_text', 'new_str', 'file_text') ?? '').toWellFormed();
  return { kind: 'edit', edits: [{ path, change, before, after }] };
}
