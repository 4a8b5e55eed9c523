import type { Action, Event, FileEdit } from '../../model/event.ts';
import { readLines } from '../../platform/lines.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Agent, FoundSession, Reading } from '../agent.ts';
import {
  collectTexts,
  countUnknown,
  getNumber,
  getRow,
  getRows,
  getText,
  parseRow,
  type Row,
} from '../json.ts';
import {
  makeCall,
  makeCompaction,
  makeInjected,
  makeLimit,
  makePrompt,
  makeReply,
  makeResult,
  makeStamp,
  type Stamp,
  toTimestamp,
} from '../make-events.ts';
import { resolveFilePath, TouchedFiles } from '../touched-files.ts';
import { openRows, type RowFormat, readRows } from '../transcript.ts';
import { inspectFile, listTranscripts } from './sessions.ts';

export interface ToolUse {
  tool: string;
  input: Row;
  cwd: string | null;
}

/** What one of pi's own tools does. Those of extensions can be anything. */
export function readAction(use: ToolUse, files: TouchedFiles): Action {
  const { tool, input, cwd } = use;
  const path = getText(input, 'path');
  const place = path === null ? null : resolveFilePath(path, cwd);
  switch (tool) {
    case 'bash':
    case 'powershell':
      return { kind: 'command', command: textOf(input, 'command'), background: false };
    case 'read':
      if (place !== null) files.meet(place);
      return { kind: 'read', path: place ?? '' };
    case 'write':
      return { kind: 'edit', edits: [files.write(place ?? '', textOf(input, 'content'))] };
    case 'edit':
      return { kind: 'edit', edits: readEdits(input, place ?? '', files) };
    case 'grep':
    case 'find':
      return { kind: 'search', pattern: textOf(input, 'pattern'), path: place };
    case 'ls':
      return { kind: 'search', pattern: '', path: place };
    default:
      return { kind: 'other', texts: collectTexts(input) };
  }
}

/** One replacement in older releases, a list of them in newer ones. */
function readEdits(input: Row, path: string, files: TouchedFiles): FileEdit[] {
  const listed = getRows(input, 'edits');
  const edits = listed.length === 0 ? [input] : listed;
  return edits.map((edit) => files.edit(path, textOf(edit, 'oldText'), textOf(edit, 'newText')));
}

function textOf(row: Row, key: string): string {
  return (getText(row, key) ?? '').toWellFormed();
}

/** Entries about the session itself: settings, names, bookmarks, the state of extensions. */
const SILENT = new Set([
  'session',
  'thinking_level_change',
  'usage',
  'context_edit',
  'context_transform',
  'ephemeral',
  'custom',
  'label',
  'session_info',
]);
const SILENT_CONTENT = new Set(['thinking', 'redactedThinking', 'image']);

const EXIT_STATUS = /Command exited with code (\d{1,5})\s*$/;

/** All that is remembered of the entries of a session. */
export interface TellerState {
  files: Set<string>;
  commands: Set<string>;
  cwd: string | null;
  model: string | null;
}

export function startTeller(cwd: string | null): TellerState {
  return { files: new Set(), commands: new Set(), cwd, model: null };
}

/** Tells the entries of one session file, in their order. */
export class Teller {
  readonly #state: TellerState;
  readonly #reading: Reading;
  readonly #files: TouchedFiles;

  constructor(state: TellerState, reading: Reading) {
    this.#state = state;
    this.#reading = reading;
    this.#files = new TouchedFiles(state.files);
  }

  *tell(entry: Row, line: number): Generator<Event> {
    const type = getText(entry, 'type') ?? '';
    switch (type) {
      case 'session':
        this.#state.cwd = getText(entry, 'cwd') ?? this.#state.cwd;
        break;
      case 'model_change':
        this.#state.model = getText(entry, 'modelId') ?? this.#state.model;
        break;
      case 'message':
        yield* this.#tellMessage(entry, line);
        break;
      // The summary of a branch that was left is what is known of it from here on.
      case 'compaction':
      case 'branch_summary':
        yield makeCompaction(this.#stampOf(entry, line), getText(entry, 'summary'));
        break;
      case 'custom_message':
        yield* makeInjected(this.#stampOf(entry, line), joinText(entry));
        break;
      default:
        if (!SILENT.has(type)) countUnknown(this.#reading.unknown, `entry ${type}`.trim());
    }
  }

  *#tellMessage(entry: Row, line: number): Generator<Event> {
    const message = getRow(entry, 'message');
    const role = getText(message, 'role') ?? '';
    if (role === 'assistant') this.#state.model = getText(message, 'model') ?? this.#state.model;
    const stamp = this.#stampOf(entry, line);
    switch (role) {
      case 'user':
        yield* makePrompt(stamp, joinText(message));
        break;
      case 'assistant':
        yield* this.#tellAnswer(stamp, message);
        break;
      case 'toolResult':
        yield this.#tellToolResult(stamp, message);
        break;
      case 'bashExecution':
        yield* tellExecution(stamp, message, getText(entry, 'id') ?? `line ${line}`);
        break;
      case 'custom':
      case 'hookMessage':
        yield* makeInjected(stamp, joinText(message));
        break;
      case 'compactionSummary':
      case 'branchSummary':
        break;
      default:
        countUnknown(this.#reading.unknown, `message ${role}`.trim());
    }
  }

  *#tellAnswer(stamp: Stamp, message: Row): Generator<Event> {
    if (typeof message.content === 'string') yield* makeReply(stamp, message.content);
    for (const part of getRows(message, 'content')) {
      const type = getText(part, 'type') ?? '';
      if (type === 'text') yield* makeReply(stamp, getText(part, 'text') ?? '');
      else if (type === 'toolCall') yield this.#tellToolCall(stamp, part);
      else if (!SILENT_CONTENT.has(type)) countUnknown(this.#reading.unknown, `content ${type}`.trim());
    }
    if (message.stopReason === 'error') yield makeLimit(stamp, getText(message, 'errorMessage') ?? '');
  }

  #tellToolCall(stamp: Stamp, part: Row): Event {
    const id = getText(part, 'id') ?? '';
    const tool = getText(part, 'name') ?? '';
    const action = readAction({ tool, input: getRow(part, 'arguments'), cwd: this.#state.cwd }, this.#files);
    if (action.kind === 'command') this.#state.commands.add(id);
    return makeCall(stamp, { id, tool, action });
  }

  /** A command that ends in another status than 0 is an error to pi, with the status in the last line. */
  #tellToolResult(stamp: Stamp, message: Row): Event {
    const id = getText(message, 'toolCallId') ?? '';
    const output = joinText(message);
    const ok = message.isError !== true;
    const isCommand = this.#state.commands.delete(id);
    const [, status] = (isCommand ? EXIT_STATUS.exec(output.slice(-200)) : null) ?? [];
    const exit = !isCommand ? null : ok ? 0 : status === undefined ? null : Number(status);
    return makeResult(stamp, { id, ok, exit, output });
  }

  #stampOf(entry: Row, line: number): Stamp {
    const at = toTimestamp(getRow(entry, 'message').timestamp) ?? toTimestamp(entry.timestamp);
    return makeStamp({ at, line, id: getText(entry, 'id'), cwd: this.#state.cwd, model: this.#state.model });
  }
}

/** A command that the human ran from within pi. */
function* tellExecution(stamp: Stamp, message: Row, id: string): Generator<Event> {
  const command = getText(message, 'command')?.toWellFormed() ?? '';
  yield makeCall(stamp, { id, tool: 'bash', action: { kind: 'command', command, background: false } });
  const exit = getNumber(message, 'exitCode');
  const ok = message.cancelled === true ? false : exit === null ? null : exit === 0;
  yield makeResult(stamp, { id, ok, exit, output: getText(message, 'output') ?? '' });
}

function joinText(message: Row): string {
  if (typeof message.content === 'string') return message.content;
  return getRows(message, 'content')
    .flatMap((part) => (part.type === 'text' ? (getText(part, 'text') ?? []) : []))
    .join('\n');
}

/** The entries of a session file that are live, by their ids; null when all are. */
export type LiveEntries = Set<string> | null;

const HEAD_BYTES = 300;
const HEAD = /^\{"type":"[a-z_]+","id":"([^"\\]+)","parentId":(?:null|"([^"\\]*)"),/;

/**
 * Entries form a tree, of which the branch that ends in the last entry is live. Going back in a session is rare: a file
 * in which every entry follows the one before it is told apart without keeping the ids.
 */
export function findLiveEntries(path: string, until: number): LiveEntries {
  const parents = new Map<string, string | null>();
  let last: string | null = null;
  let isLine = true;
  for (const { bytes } of readLines(path, { until })) {
    const entry = readLinks(bytes);
    if (entry === null) continue;
    // A parent that was lost with a broken line is replaced by the entry before.
    const isLost: boolean = entry.parent !== null && entry.parent !== last && !parents.has(entry.parent);
    const parent: string | null = isLost ? last : entry.parent;
    if (parent !== last) {
      // A line that is broken, or still being written, leads nowhere.
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

interface SessionState extends TellerState {
  live: LiveEntries;
  /** The entry that was read last. */
  last: string | null;
}

const format: RowFormat<SessionState> = {
  start: ({ cwd }) => ({ ...startTeller(cwd), live: null, last: null }),
  lookAhead: ({ cwd, path }, until) => ({
    ...startTeller(cwd),
    live: findLiveEntries(path, until),
    last: null,
  }),
  needsLookAhead: true,
  openReader: ({ state, session, reading, knowsAll }) => {
    const teller = new Teller(state, reading);
    reading.sessionId = session.id;
    return {
      read: ({ row, line }) => {
        const id = row.type === 'session' ? null : getText(row, 'id');
        if (!knowsAll && id !== null) {
          if (!followsLive(row, state)) return null;
          state.live?.add(id);
        }
        state.last = id ?? state.last;
        return id === null || state.live === null || state.live.has(id) ? teller.tell(row, line) : [];
      },
      finish: () => [],
      keep: () => state,
    };
  },
};

/** What follows on the last entry is live with it; anything else may make another branch the live one. */
function followsLive(row: Row, { live, last }: SessionState): boolean {
  return getText(row, 'parentId') === last && (last === null || live === null || live.has(last));
}

export const piAgent: Agent = {
  name: 'pi',
  findSessions,
  listTranscripts: listTranscripts,
  inspectFile: inspectFile,
  readEvents: (session, reading) => readRows(format, session, reading),
  openTranscript: (opening) => openRows(format, opening),
};

function* findSessions(machine: Machine): Generator<FoundSession> {
  for (const path of listTranscripts(machine)) {
    const session = inspectFile(path);
    if (session !== null) yield session;
  }
}
