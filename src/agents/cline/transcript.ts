import type { Event } from '../../model/event.ts';
import { readHead } from '../../platform/external-file.ts';
import type { Agent, FoundSession, ReadStats } from '../agent.ts';
import { TouchedFiles } from '../shared/files.ts';
import {
  asRow,
  countUnknown,
  countUnreadable,
  getNumber,
  getRow,
  getText,
  listBlockTexts,
  parseAny,
  parseRow,
  type Row,
  toBlocks,
  toRows,
} from '../shared/json.ts';
import {
  type CallOutcome,
  makeCall,
  makeCompaction,
  makeInjected,
  makePrompt,
  makeReply,
  makeResult,
  makeStamp,
  type Stamp,
  toTimestamp,
} from '../shared/make-events.ts';
import { takeCall } from '../shared/pending-events.ts';
import { sortResults } from '../shared/result-order.ts';
import { readAddedTexts, readHumanText } from './prompts.ts';
import { findCompanion, findSessions, inspectFile, isSessionFile, listTranscripts, readManifest } from './sessions.ts';
import { TaskReader } from './tasks.ts';
import { toActions } from './tools.ts';

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

/** Null for what is not an object, which counts as unreadable. */
function readMessage(value: unknown, stats: ReadStats): Row | null {
  const message = asRow(value);
  if (message === null) countUnreadable(stats);
  else stats.rows++;
  return message;
}

function* readTask(session: FoundSession, stats: ReadStats): Generator<Event> {
  const messages = readJsonFile(session.path);
  if (!Array.isArray(messages)) return countUnreadable(stats);
  stats.sessionId = session.id;
  const reader = new TaskReader(session, stats);
  for (const [index, value] of messages.entries()) {
    const message = readMessage(value, stats);
    if (message !== null) yield* reader.read(message, index + 1);
  }
}

function* readSession(session: FoundSession, stats: ReadStats): Generator<Event> {
  const file = asRow(readJsonFile(session.path));
  if (file === null || !Array.isArray(file.messages)) return countUnreadable(stats);
  stats.sessionId = getText(file, 'sessionId') ?? session.id;
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
    return makeCompaction(this.#stamp(line, null, at), summary);
  }

  #stamp(line: number, id: string | null, at: string | null): Stamp {
    return makeStamp({ at, line, id, cwd: this.#session.cwd, model: this.#model, branch: this.#branch });
  }

  *#readAssistant(stamp: Stamp, block: Row): Generator<Event> {
    const type = getText(block, 'type') ?? '';
    if (type === 'text') yield* makeReply(stamp, getText(block, 'text') ?? '');
    else if (type === 'tool_use') yield* this.#readCall(stamp, block);
    else if (type !== 'thinking' && type !== 'redacted_thinking' && type !== 'reasoning') {
      countUnknown(this.#stats, `assistant/${type}`);
    }
  }

  *#readCall(stamp: Stamp, block: Row): Generator<Event> {
    const id = getText(block, 'id');
    const tool = getText(block, 'name') ?? '';
    if (id === null) return;
    const actions = toActions({ tool, input: block.input, cwd: this.#session.cwd }, this.#files);
    const ids = actions.map((_, index) => (actions.length === 1 ? id : `${id}.${index + 1}`));
    this.#open.set(id, { ids, asks: actions[0]?.kind === 'ask' });
    for (const [index, action] of actions.entries()) yield makeCall(stamp, { id: ids[index] ?? id, tool, action });
  }

  *#readUser(stamp: Stamp, block: Row, metadata: Row): Generator<Event> {
    const type = getText(block, 'type') ?? '';
    if (type === 'text') {
      const text = getText(block, 'text') ?? '';
      for (const added of readAddedTexts(text)) yield* makeInjected(stamp, added);
      const byProgram = metadata.displayRole === 'system' || getText(metadata, 'kind') !== null;
      if (byProgram || this.#session.parent !== null) return;
      yield* makePrompt(stamp, readHumanText(text) ?? '');
    } else if (type === 'tool_result') yield* this.#readResult(stamp, block);
    else if (type !== 'image' && type !== 'file' && type !== 'document') countUnknown(this.#stats, `user/${type}`);
  }

  *#readResult(stamp: Stamp, block: Row): Generator<Event> {
    const id = getText(block, 'tool_use_id');
    if (id === null) return;
    const call = takeCall(this.#open, id) ?? { ids: [id], asks: false };
    const results = readResults(block.content);
    const failed = block.is_error === true;
    if (call.asks && !failed) {
      for (const { output } of results) yield* makePrompt(stamp, output);
      return;
    }
    const outcomes = results.length === call.ids.length ? results : [joinResults(results)];
    for (const [index, result] of outcomes.entries()) {
      yield makeResult(stamp, { ...result, id: call.ids[index] ?? id, ok: failed ? false : result.ok });
    }
  }
}

type Result = Omit<CallOutcome, 'id' | 'refused'>;

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
