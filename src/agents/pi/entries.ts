import type { Event } from '../../model/event.ts';
import type { Reading } from '../agent.ts';
import { countUnknown, getNumber, getRow, getRows, getText, type Row } from '../json.ts';
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
import { TouchedFiles } from '../touched-files.ts';
import { readAction } from './actions.ts';

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
