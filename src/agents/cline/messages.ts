import type { Action, Event } from '../../model/event.ts';
import { readHead } from '../../platform/external-file.ts';
import type { FoundSession, Reading } from '../agent.ts';
import {
  asRow,
  countUnknown,
  getNumber,
  getRow,
  getText,
  parseAny,
  parseRow,
  type Row,
  toRows,
} from '../shared/json.ts';
import {
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
import { toActions } from './actions.ts';
import { findCompaction, readManifest } from './manifest.ts';
import { readAddedTexts, readHumanText } from './user-text.ts';

/** The file is rewritten as a whole after each message, and read as a whole. */
export const MAX_FILE_BYTES: number = 256 * 1024 * 1024;

/** The JSON in a file; undefined when it cannot be had. */
export function readJsonFile(path: string): unknown {
  const file = readHead(path, MAX_FILE_BYTES);
  return file === null || file.size > MAX_FILE_BYTES ? undefined : parseAny(file.bytes.toString('utf8'));
}

export function* readMessages(session: FoundSession, reading: Reading): Generator<Event> {
  const file = asRow(readJsonFile(session.path));
  if (file === null || !Array.isArray(file.messages)) {
    reading.rows++;
    reading.unreadable++;
    return;
  }
  reading.sessionId = getText(file, 'sessionId') ?? session.id;
  reading.agentVersion = getText(getRow(file, 'origin'), 'version');
  const reader = new MessageReader(session, reading);
  const compaction = readCompaction(session.path);
  for (const [index, message] of file.messages.entries()) {
    if (compaction?.after === index) yield* reader.tellSummary(compaction, index);
    yield* reader.read(message, index + 1);
  }
  if (compaction !== null && compaction.after >= file.messages.length) {
    yield* reader.tellSummary(compaction, file.messages.length);
  }
}

interface Compaction {
  /** How many messages it sums up. */
  after: number;
  at: string | null;
  summary: string | null;
}

/** The last compaction: all messages stay where they were, and the summary is kept beside them. */
function readCompaction(path: string): Compaction | null {
  const file = asRow(readJsonFile(findCompaction(path)));
  if (file === null) return null;
  const [first = {}] = toRows(file.messages);
  const metadata = getRow(first, 'metadata');
  const text = toRows(first.content).flatMap((block) => getText(block, 'text') ?? []);
  return {
    after: getNumber(file, 'source_message_count') ?? 0,
    at: toTimestamp(metadata.generatedAt) ?? toTimestamp(file.updated_at),
    summary: getText(metadata, 'summary') ?? text.join('\n').replace(/^Context summary:\s*/, ''),
  };
}

/** What was asked for in a call whose results have not come yet. */
interface OpenCall {
  ids: string[];
  asks: boolean;
}

class MessageReader {
  readonly #session: FoundSession;
  readonly #reading: Reading;
  readonly #branch: string | null;
  readonly #open = new Map<string, OpenCall>();
  #model: string | null = null;

  constructor(session: FoundSession, reading: Reading) {
    this.#session = session;
    this.#reading = reading;
    this.#branch = getText(getRow(getRow(readManifest(session.path), 'metadata'), 'git'), 'branch');
  }

  *read(value: unknown, line: number): Generator<Event> {
    this.#reading.rows++;
    const message = asRow(value);
    if (message === null) {
      this.#reading.unreadable++;
      return;
    }
    this.#model = getText(getRow(message, 'modelInfo'), 'id') ?? this.#model;
    const stamp = this.#stamp(line, getText(message, 'id'), toTimestamp(message.ts));
    const blocks =
      typeof message.content === 'string'
        ? [{ type: 'text', text: message.content }]
        : toRows(message.content);
    for (const block of blocks) {
      if (message.role === 'assistant') yield* this.#readAssistant(stamp, block);
      else if (message.role === 'user') yield* this.#readUser(stamp, block, getRow(message, 'metadata'));
    }
    if (message.role !== 'assistant' && message.role !== 'user') {
      countUnknown(this.#reading.unknown, `role/${getText(message, 'role') ?? ''}`);
    }
  }

  *tellSummary({ at, summary }: Compaction, line: number): Generator<Event> {
    yield makeCompaction(this.#stamp(line, null, at), summary);
  }

  #stamp(line: number, id: string | null, at: string | null): Stamp {
    const stamp = makeStamp({ at, line, id, cwd: this.#session.cwd, model: this.#model });
    return this.#branch === null ? stamp : { ...stamp, branch: this.#branch.toWellFormed() };
  }

  *#readAssistant(stamp: Stamp, block: Row): Generator<Event> {
    switch (block.type) {
      case 'text':
        yield* makeReply(stamp, getText(block, 'text') ?? '');
        return;
      case 'tool_use':
        yield* this.#readCall(stamp, block);
        return;
      case 'thinking':
      case 'redacted_thinking':
      case 'reasoning':
        return;
      default:
        countUnknown(this.#reading.unknown, `assistant/${getText(block, 'type') ?? ''}`);
    }
  }

  *#readCall(stamp: Stamp, block: Row): Generator<Event> {
    const id = getText(block, 'id');
    const tool = getText(block, 'name') ?? '';
    if (id === null) return;
    const actions: Action[] = toActions(tool, block.input, this.#session.cwd);
    const ids = actions.map((_, index) => (actions.length === 1 ? id : `${id}.${index + 1}`));
    this.#open.set(id, { ids, asks: actions[0]?.kind === 'ask' });
    for (const [index, action] of actions.entries())
      yield makeCall(stamp, { id: ids[index] ?? id, tool, action });
  }

  *#readUser(stamp: Stamp, block: Row, metadata: Row): Generator<Event> {
    switch (block.type) {
      case 'text': {
        const text = getText(block, 'text') ?? '';
        for (const added of readAddedTexts(text)) yield* makeInjected(stamp, added);
        const byProgram = metadata.displayRole === 'system' || getText(metadata, 'kind') !== null;
        if (byProgram || this.#session.parent !== null) return;
        yield* makePrompt(stamp, readHumanText(text) ?? '');
        return;
      }
      case 'tool_result':
        yield* this.#readResult(stamp, block);
        return;
      case 'image':
      case 'file':
      case 'document':
        return;
      default:
        countUnknown(this.#reading.unknown, `user/${getText(block, 'type') ?? ''}`);
    }
  }

  *#readResult(stamp: Stamp, block: Row): Generator<Event> {
    const id = getText(block, 'tool_use_id');
    if (id === null) return;
    const call = this.#open.get(id) ?? { ids: [id], asks: false };
    this.#open.delete(id);
    const results = readResults(block.content);
    if (call.asks && block.is_error !== true) {
      for (const { output } of results) yield* makePrompt(stamp, output);
      return;
    }
    const failed = block.is_error === true;
    const told = results.length === call.ids.length ? results : [joinResults(results)];
    for (const [index, result] of told.entries()) {
      yield makeResult(stamp, { ...result, id: call.ids[index] ?? id, ok: failed ? false : result.ok });
    }
  }
}

interface Result {
  ok: boolean | null;
  exit: number | null;
  output: string;
}

/** One result for each thing that was asked for; a tool that does one thing may give it as text. */
function readResults(content: unknown): Result[] {
  if (typeof content === 'string') {
    const row = content.startsWith('{') ? parseRow(content) : null;
    return [row === null ? { ok: null, exit: null, output: content } : readResult(row, content)];
  }
  const parts = toRows(content);
  if (parts.some((part) => part.type !== undefined)) {
    return [
      { ok: null, exit: null, output: parts.flatMap((part) => getText(part, 'text') ?? []).join('\n') },
    ];
  }
  return parts.map((part) => readResult(part, ''));
}

const EXITED = /\bCommand exited with code (-?\d{1,10})/;

function readResult(row: Row, whole: string): Result {
  const parts = toRows(row.content).flatMap((part) => getText(part, 'text') ?? []);
  if (parts.length > 0)
    return { ok: row.isError === true ? false : null, exit: null, output: parts.join('\n') };
  const ok = typeof row.success === 'boolean' ? row.success : null;
  const error = getText(row, 'error') ?? '';
  const result = typeof row.result === 'string' ? row.result : joinBlocks(row.result);
  const exited = EXITED.exec(error)?.[1];
  const output = [result, error].filter((text) => text !== '').join('\n');
  return {
    ok,
    exit: exited === undefined ? null : Number(exited),
    output: ok === null && output === '' ? whole : output,
  };
}

function joinBlocks(value: unknown): string {
  return toRows(value)
    .flatMap((part) => getText(part, 'text') ?? [])
    .join('\n');
}

function joinResults(results: readonly Result[]): Result {
  const failed = results.find((result) => result.ok === false);
  return {
    ok: failed === undefined ? (results[0]?.ok ?? null) : false,
    exit: failed?.exit ?? null,
    output: results.map((result) => result.output).join('\n'),
  };
}
