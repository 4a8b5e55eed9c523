import { basename, dirname } from 'node:path';
import type { Event } from '../../model/event.ts';
import { readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Agent, FoundSession, Reading } from '../agent.ts';
import {
  makeCall,
  makeLimit,
  makePrompt,
  makeReply,
  makeResult,
  makeStamp,
  type Stamp,
} from '../make-events.ts';
import { resolveFilePath, TouchedFiles } from '../touched-files.ts';
import {
  findHistories,
  HISTORY_NAME,
  listSessions,
  listTranscripts,
  readHistory,
  type SessionLine,
} from './sessions.ts';

export interface EditBlock {
  path: string;
  before: string;
  after: string;
}

const SEARCH = /^<{5,9} SEARCH>?\s*$/;
const DIVIDER = /^={5,9}\s*$/;
const REPLACE = /^>{5,9} REPLACE\s*$/;
const FENCE = /^\s*(?:`{3,}|~{3,})/;

/** Parts what the model said into its words and the blocks by which it edits files. A block without an end is words. */
export function separateEdits(lines: readonly string[]): { words: string; blocks: EditBlock[] } {
  const words: string[] = [];
  const blocks: EditBlock[] = [];
  const ends = findEnds(lines);
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    const end = ends.get(i);
    if (end === undefined) {
      words.push(line);
      continue;
    }
    const path = takePath(words) ?? blocks.at(-1)?.path ?? '';
    blocks.push({
      path,
      before: lines.slice(i + 1, end.divider).join('\n'),
      after: lines.slice(end.divider + 1, end.replace).join('\n'),
    });
    i = FENCE.test(lines[end.replace + 1] ?? '') ? end.replace + 1 : end.replace;
  }
  return {
    words: words
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    blocks,
  };
}

interface BlockEnd {
  divider: number;
  replace: number;
}

/** By the line of its beginning, where each whole block is divided and ends. */
function findEnds(lines: readonly string[]): Map<number, BlockEnd> {
  const ends = new Map<number, BlockEnd>();
  let begin: number | null = null;
  let divider: number | null = null;
  for (const [index, line] of lines.entries()) {
    if (SEARCH.test(line)) {
      begin = index;
      divider = null;
    } else if (begin !== null && divider === null && DIVIDER.test(line)) divider = index;
    else if (begin !== null && divider !== null && REPLACE.test(line)) {
      ends.set(begin, { divider, replace: index });
      begin = null;
      divider = null;
    }
  }
  return ends;
}

/** The name of the file stands above the block, before or behind the opening fence. */
function takePath(words: string[]): string | null {
  let path: string | null = null;
  let hasFence = false;
  for (;;) {
    const line = words.at(-1);
    if (line === undefined) return path;
    if (!hasFence && FENCE.test(line)) hasFence = true;
    else if (path === null && isFileName(line)) path = cleanFileName(line);
    else return path;
    words.pop();
  }
}

function isFileName(line: string): boolean {
  const name = cleanFileName(line);
  return (
    name !== '' && name.length < 500 && (/[./\\]/.test(name) || !name.includes(' ')) && !/[.:!?]$/.test(name)
  );
}

/** Models decorate the name as they like. */
function cleanFileName(line: string): string {
  return line
    .trim()
    .replace(/^#+\s*/, '')
    .replace(/:$/, '')
    .replace(/^[`*]+|[`*]+$/g, '')
    .trim();
}

const VERSION = /^Aider v(\S+)$/;
const MODEL = /^(?:Main model|Model): (\S+)/;
const APPLIED = /^Applied edit to (.+)$/;
const RUNNING = /^Running (.+)$/;
const REJECTED = /^The LLM did not conform to the edit format\.?/;
const PROVIDER_ERROR = /^litellm\.\w+/;
/** Commands that only say what to do with the text behind them. */
const TALK = /^\/(?:ask|code|architect|chat-mode \w+)\s+(?=\S)/;
const RUN = /^(?:!|\/(?:run|test|git)\s)\s*(.+)$/s;

/** Tells the lines of one session. Only the turn at hand is held. */
export class Teller {
  readonly #cwd: string | null;
  readonly #reading: Reading;
  readonly #files = new TouchedFiles();
  #model: string | null = null;
  #human: { lines: string[]; number: number } | null = null;
  #words: { lines: string[]; number: number } | null = null;
  /** Edits that the model made and aider has not applied yet: call and path. */
  #edits: { id: string; path: string }[] = [];
  #calls = 0;

  constructor(cwd: string | null, reading: Reading) {
    this.#cwd = cwd;
    this.#reading = reading;
  }

  *tell({ content, number }: SessionLine): Generator<Event> {
    if (content.kind === 'start') return;
    if (content.kind === 'human') {
      yield* this.#endWords();
      this.#human ??= { lines: [], number };
      this.#human.lines.push(content.text);
      return;
    }
    yield* this.#endHuman();
    if (content.kind === 'note') {
      yield* this.#endWords();
      yield* this.#tellNote(content.text, number);
    } else if (this.#words !== null || content.text.trim() !== '') {
      this.#words ??= { lines: [], number };
      this.#words.lines.push(content.text);
    }
  }

  *finish(): Generator<Event> {
    yield* this.#endHuman();
    yield* this.#endWords();
  }

  *#endHuman(): Generator<Event> {
    if (this.#human === null) return;
    const { lines, number } = this.#human;
    this.#human = null;
    this.#edits = [];
    const text = lines.join('\n').trim();
    const [, command] = RUN.exec(text) ?? [];
    const stamp = this.#stampOf(number);
    if (command !== undefined) {
      const shown = text.startsWith('/git') ? `git ${command}` : command;
      yield this.#tellCommand(stamp, shown);
      return;
    }
    const said = text.replace(TALK, '');
    if (said !== '<blank>' && !/^\/[a-z][a-z-]*(?:\s|$)/.test(said)) yield* makePrompt(stamp, said);
  }

  *#endWords(): Generator<Event> {
    if (this.#words === null) return;
    const { lines, number } = this.#words;
    this.#words = null;
    const { words, blocks } = separateEdits(lines);
    const stamp = this.#stampOf(number);
    yield* makeReply(stamp, words);
    for (const { path, before, after } of blocks) {
      const place = resolveFilePath(path, this.#cwd);
      const id = this.#nextCall();
      const text = after === '' || before !== '' ? after : `${after}\n`;
      const edit = before === '' ? this.#files.write(place, text) : this.#files.edit(place, before, text);
      this.#edits.push({ id, path: place });
      yield makeCall(stamp, { id, tool: 'edit', action: { kind: 'edit', edits: [edit] } });
    }
  }

  *#tellNote(note: string, number: number): Generator<Event> {
    const stamp = this.#stampOf(number);
    const [, version] = VERSION.exec(note) ?? [];
    if (version !== undefined) this.#reading.agentVersion = version.toWellFormed();
    const [, model] = MODEL.exec(note) ?? [];
    if (model !== undefined) this.#model = model;
    const [, applied] = APPLIED.exec(note) ?? [];
    if (applied !== undefined) yield* this.#tellApplied(stamp, applied, note);
    const [, command] = RUNNING.exec(note) ?? [];
    if (command !== undefined) yield this.#tellCommand(stamp, command);
    if (REJECTED.test(note)) yield* this.#tellRejected(stamp, note);
    if (PROVIDER_ERROR.test(note)) yield makeLimit(stamp, note);
  }

  /** In some edit formats the blocks cannot be told from other text: then the file is all that is known. */
  *#tellApplied(stamp: Stamp, path: string, note: string): Generator<Event> {
    const place = resolveFilePath(path, this.#cwd);
    const done = this.#edits.filter((edit) => edit.path === place);
    this.#edits = this.#edits.filter((edit) => edit.path !== place);
    if (done.length === 0) {
      const id = this.#nextCall();
      const edit = this.#files.edit(place, '', '');
      yield makeCall(stamp, { id, tool: 'edit', action: { kind: 'edit', edits: [edit] } });
      done.push({ id, path: place });
    }
    for (const { id } of done) yield makeResult(stamp, { id, ok: true, exit: null, output: note });
  }

  *#tellRejected(stamp: Stamp, note: string): Generator<Event> {
    for (const { id } of this.#edits) yield makeResult(stamp, { id, ok: false, exit: null, output: note });
    this.#edits = [];
  }

  /** What a command gave back is not in the history. */
  #tellCommand(stamp: Stamp, command: string): Event {
    const shown = command.toWellFormed();
    const action = { kind: 'command', command: shown, background: false } as const;
    return makeCall(stamp, { id: this.#nextCall(), tool: 'run', action });
  }

  #nextCall(): string {
    this.#calls++;
    return `call-${this.#calls}`;
  }

  #stampOf(line: number): Stamp {
    return makeStamp({ at: null, line, id: null, cwd: this.#cwd, model: this.#model });
  }
}

const OPENING = /^\s*# aider chat started at \d{4}-/;

export const aiderAgent: Agent = {
  name: 'aider',
  findSessions,
  listTranscripts,
  /** The newest session of the file: aider appends all to one. */
  inspectFile(path) {
    const isOwn = basename(path) === HISTORY_NAME;
    const head = readHead(path, 1024);
    if (head === null || !(isOwn || OPENING.test(head.bytes.toString('latin1')))) return null;
    const { size, changedMs } = head;
    return listSessions(path, { cwd: isOwn ? dirname(path) : null, size, changedMs }).at(-1) ?? null;
  },
  readEvents,
};

function* findSessions(machine: Machine): Generator<FoundSession> {
  for (const { path, cwd } of findHistories(machine)) {
    const head = readHead(path, 0);
    if (head !== null) yield* listSessions(path, { cwd, size: head.size, changedMs: head.changedMs });
  }
}

function* readEvents(session: FoundSession, reading: Reading): Generator<Event> {
  reading.sessionId = session.id;
  const teller = new Teller(session.cwd, reading);
  const onLongLine = (): void => {
    reading.unreadable++;
  };
  for (const line of readHistory(session.path, onLongLine)) {
    if (line.session !== session.id) continue;
    reading.rows++;
    yield* teller.tell(line);
  }
  yield* teller.finish();
}
