import type { Event } from '../../model/event.ts';
import type { Reading } from '../agent.ts';
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
import { separateEdits } from './edit-blocks.ts';
import type { SessionLine } from './history.ts';

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
