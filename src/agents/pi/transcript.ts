import type { Action, Event, FileEdit } from '../../model/event.ts';
import { readLines } from '../../platform/lines.ts';
import { countUnknown, type ReadStats } from '../agent.ts';
import { readExitStatus, type ToolCall } from '../shared/actions.ts';
import { resolveFilePath, TouchedFiles } from '../shared/files.ts';
import { getCleanText, getNumber, getRow, getText, parseRow, type Row, toRows, toTimestamp } from '../shared/json.ts';
import * as make from '../shared/make-events.ts';
import { describeMcpFileCall } from '../shared/mcp-files.ts';
import { collectTexts, joinText, toBlocks } from '../shared/message-text.ts';
import { makeRowAgent, type RowFormat } from '../shared/transcript.ts';
import { inspectFile, listTranscripts } from './sessions.ts';

/** Saved in the transcript checkpoint. */
interface SessionState {
  files: Set<string>;
  commands: Set<string>;
  cwd: string | null;
  model: string | null;
  live: LiveEntries;
  /** The entry that was read last. */
  last: string | null;
}

/** The ids of the entries that were not left behind by going back; null when that is all of them. */
type LiveEntries = Set<string> | null;

function startState(cwd: string | null, live: LiveEntries): SessionState {
  return { files: new Set(), commands: new Set(), cwd, model: null, live, last: null };
}

const format: RowFormat<SessionState> = {
  start: ({ cwd }) => startState(cwd, null),
  lookAhead: ({ cwd, path }, until) => startState(cwd, findLiveEntries(path, until)),
  needsLookAhead: true,
  openReader: ({ state, stats, knowsAll }) => {
    const reader = new EntryReader(state, stats);
    return {
      read: ({ row, line }) => {
        const id = row.type === 'session' ? null : getText(row, 'id');
        if (!knowsAll && id !== null) {
          if (!followsLive(row, state)) return null;
          state.live?.add(id);
        }
        state.last = id ?? state.last;
        return id === null || state.live === null || state.live.has(id) ? reader.read(row, line) : [];
      },
    };
  },
};

export const piAgent = makeRowAgent({ name: 'pi', listTranscripts, inspectFile }, format);

/** An entry that follows the last one is live if that is; any other may make another branch the live one. */
function followsLive(row: Row, { live, last }: SessionState): boolean {
  return getText(row, 'parentId') === last && (last === null || live === null || live.has(last));
}

/** Entries about the session itself: settings, names, bookmarks, the state of extensions. */
const IGNORED_ENTRIES = new Set(
  'thinking_level_change usage context_edit context_transform ephemeral custom label session_info'.split(' '),
);
const IGNORED_CONTENT = new Set(['thinking', 'redactedThinking', 'image']);

/** Turns the entries of a session file into events, in order. */
class EntryReader {
  readonly #state: SessionState;
  readonly #stats: ReadStats;
  readonly #files: TouchedFiles;

  constructor(state: SessionState, stats: ReadStats) {
    this.#state = state;
    this.#stats = stats;
    this.#files = new TouchedFiles(state.files);
  }

  *read(entry: Row, line: number): Generator<Event> {
    const type = getText(entry, 'type') ?? '';
    if (type === 'session') this.#state.cwd = getText(entry, 'cwd') ?? this.#state.cwd;
    else if (type === 'model_change') this.#state.model = getText(entry, 'modelId') ?? this.#state.model;
    else if (type === 'message') yield* this.#readMessage(entry, line);
    else if (type === 'compaction' || type === 'branch_summary') {
      // The summary of a branch that was left is what is known of it from here on.
      yield make.compaction(this.#stampOf(entry, line), getText(entry, 'summary'));
    } else if (type === 'custom_message') yield* make.injected(this.#stampOf(entry, line), joinText(entry.content));
    else if (!IGNORED_ENTRIES.has(type)) countUnknown(this.#stats, `entry ${type}`.trim());
  }

  *#readMessage(entry: Row, line: number): Generator<Event> {
    const message = getRow(entry, 'message');
    const role = getText(message, 'role') ?? '';
    if (role === 'assistant') this.#state.model = getText(message, 'model') ?? this.#state.model;
    const stamp = this.#stampOf(entry, line);
    if (role === 'user') yield* make.prompt(stamp, joinText(message.content));
    else if (role === 'assistant') yield* this.#readAnswer(stamp, message);
    else if (role === 'toolResult') yield this.#readToolResult(stamp, message);
    else if (role === 'bashExecution') yield* readExecution(stamp, message, getText(entry, 'id') ?? `line ${line}`);
    else if (role === 'custom' || role === 'hookMessage') yield* make.injected(stamp, joinText(message.content));
    else if (role !== 'compactionSummary' && role !== 'branchSummary') {
      countUnknown(this.#stats, `message ${role}`.trim());
    }
  }

  *#readAnswer(stamp: make.Stamp, message: Row): Generator<Event> {
    for (const part of toBlocks(message.content)) {
      const type = getText(part, 'type') ?? '';
      if (type === 'text') yield* make.reply(stamp, getText(part, 'text') ?? '');
      else if (type === 'toolCall') yield this.#readToolCall(stamp, part);
      else if (!IGNORED_CONTENT.has(type)) countUnknown(this.#stats, `content ${type}`.trim());
    }
    if (message.stopReason === 'aborted') yield make.interruption(stamp);
    if (message.stopReason === 'error') yield make.limit(stamp, getText(message, 'errorMessage') ?? '');
  }

  #readToolCall(stamp: make.Stamp, part: Row): Event {
    const id = getText(part, 'id') ?? '';
    const tool = getText(part, 'name') ?? '';
    const action = readAction({ tool, input: getRow(part, 'arguments'), cwd: this.#state.cwd }, this.#files);
    if (action.kind === 'command') this.#state.commands.add(id);
    return make.call(stamp, { id, tool, action });
  }

  /** To pi, a command that exits with another status than 0 is an error, with the status in the last line. */
  #readToolResult(stamp: make.Stamp, message: Row): Event {
    const id = getText(message, 'toolCallId') ?? '';
    const output = joinText(message.content);
    const ok = message.isError !== true;
    const isCommand = this.#state.commands.delete(id);
    const exit = !isCommand ? null : ok ? 0 : readExitStatus(output);
    return make.result(stamp, { id, ok, exit, output });
  }

  #stampOf(entry: Row, line: number): make.Stamp {
    const at = toTimestamp(getRow(entry, 'message').timestamp) ?? toTimestamp(entry.timestamp);
    return make.stamp({ at, line, id: getText(entry, 'id'), cwd: this.#state.cwd, model: this.#state.model });
  }
}

/** A command that the human ran from within pi. */
function* readExecution(stamp: make.Stamp, message: Row, id: string): Generator<Event> {
  const command = getCleanText(message, 'command');
  yield make.call(stamp, { id, tool: 'bash', action: { kind: 'command', command, background: false } });
  const exit = getNumber(message, 'exitCode');
  const ok = message.cancelled === true ? false : exit === null ? null : exit === 0;
  yield make.result(stamp, { id, ok, exit, output: getText(message, 'output') ?? '' });
}

const HEAD_BYTES = 300;
const HEAD = /^\{"type":"[a-z_]+","id":"([^"\\]+)","parentId":(?:null|"([^"\\]*)"),/;

/** In the tree of entries, the branch that ends in the last one is live. Null, not all ids, when nobody went back. */
function findLiveEntries(path: string, until: number): LiveEntries {
  const parents = new Map<string, string | null>();
  let last: string | null = null;
  let isLine = true;
  for (const { bytes } of readLines(path, { until })) {
    const entry = readLinks(bytes);
    if (entry === null) continue;
    // The parent was on a broken line: the entry before takes its place.
    const isLost: boolean = entry.parent !== null && entry.parent !== last && !parents.has(entry.parent);
    const parent: string | null = isLost ? last : entry.parent;
    if (parent !== last) {
      // The line is broken, or still being written.
      if (parseRow(bytes.toString('utf8')) === null) continue;
      isLine = false;
    }
    parents.set(entry.id, parent);
    last = entry.id;
  }
  return isLine ? null : collectBranch(parents, last);
}

function collectBranch(parents: ReadonlyMap<string, string | null>, leaf: string | null): Set<string> {
  const live = new Set<string>();
  for (let id = leaf; id !== null && !live.has(id); id = parents.get(id) ?? null) live.add(id);
  return live;
}

/** The ids at the head of a line as pi writes it; a line in another order is parsed whole. */
function readLinks(bytes: Buffer): { id: string; parent: string | null } | null {
  const match = HEAD.exec(bytes.toString('utf8', 0, HEAD_BYTES));
  if (match !== null) return { id: match[1] ?? '', parent: match[2] ?? null };
  const row = parseRow(bytes.toString('utf8'));
  const id = row === null || row.type === 'session' ? null : getText(row, 'id');
  return row === null || id === null ? null : { id, parent: getText(row, 'parentId') };
}

/** What one of pi's own tools does. Those of extensions can be anything. */
function readAction({ tool, input, cwd }: ToolCall, files: TouchedFiles): Action {
  const given = getText(input, 'path');
  const path = given === null ? null : resolveFilePath(given, cwd);
  switch (tool) {
    case 'bash':
    case 'powershell':
      return { kind: 'command', command: getCleanText(input, 'command'), background: false };
    case 'read':
      return path === null ? { kind: 'read', path: '' } : files.read(path);
    case 'write':
      return { kind: 'edit', edits: [files.write(path ?? '', getCleanText(input, 'content'))] };
    case 'edit':
      return { kind: 'edit', edits: readEdits(input, path ?? '', files) };
    case 'grep':
    case 'find':
      return { kind: 'search', pattern: getCleanText(input, 'pattern'), path };
    case 'ls':
      return { kind: 'search', pattern: '', path };
    default:
      return describeMcpFileCall({ tool, input, cwd }, files) ?? { kind: 'other', texts: collectTexts(input) };
  }
}

/** One replacement in older releases, a list of them in newer ones. */
function readEdits(input: Row, path: string, files: TouchedFiles): FileEdit[] {
  const listed = toRows(input.edits);
  const edits = listed.length === 0 ? [input] : listed;
  return edits.map((edit) => files.edit(path, getCleanText(edit, 'oldText'), getCleanText(edit, 'newText')));
}
