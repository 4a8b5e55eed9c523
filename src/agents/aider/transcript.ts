import type { Event, FileEdit } from '../../model/event.ts';
import type { Agent, FoundSession, ReadStats } from '../agent.ts';
import { resolveFilePath, TouchedFiles } from '../shared/files.ts';
import * as make from '../shared/make-events.ts';
import { findSessions, inspectFile, listTranscripts, readHistory, type SessionLine } from './sessions.ts';

export const aiderAgent: Agent = { name: 'aider', findSessions, listTranscripts, inspectFile, readEvents };

function* readEvents(session: FoundSession, stats: ReadStats): Generator<Event> {
  const reader = new ChatReader(session.cwd, stats);
  const onLongLine = (): void => {
    stats.unreadable++;
  };
  for (const line of readHistory(session.path, onLongLine)) {
    if (line.session !== session.id) continue;
    stats.rows++;
    yield* reader.read(line);
  }
  yield* reader.finish();
}

const VERSION = /^Aider v(\S+)$/;
const MODEL = /^(?:Main model|Model): (\S+)/;
const APPLIED = /^Applied edit to (.+)$/;
const RUNNING = /^Running (.+)$/;
const REJECTED = /^The LLM did not conform to the edit format\.?/;
const PROVIDER_ERROR = /^litellm\.\w+/;
/** Commands that only say what to do with the text after them. */
const TALK = /^\/(?:ask|code|architect|chat-mode \w+)\s+(?=\S)/;
const RUN = /^(?:!|\/(?:run|test|git)\s)\s*(.+)$/s;

/** Turns the lines of one session into events. Only the current turn is kept in memory. */
class ChatReader {
  readonly #cwd: string | null;
  readonly #stats: ReadStats;
  readonly #files = new TouchedFiles();
  #model: string | null = null;
  #prompt: { lines: string[]; number: number } | null = null;
  #reply: { lines: string[]; number: number } | null = null;
  /** Edits that the model made and aider has not applied yet. */
  #edits: { id: string; path: string }[] = [];
  #calls = 0;

  constructor(cwd: string | null, stats: ReadStats) {
    this.#cwd = cwd;
    this.#stats = stats;
  }

  *read({ content, number }: SessionLine): Generator<Event> {
    if (content.kind === 'start') return;
    if (content.kind === 'human') {
      yield* this.#endReply();
      this.#prompt ??= { lines: [], number };
      this.#prompt.lines.push(content.text);
      return;
    }
    yield* this.#endPrompt();
    if (content.kind === 'note') {
      yield* this.#endReply();
      yield* this.#readNote(content.text, number);
    } else if (this.#reply !== null || content.text.trim() !== '') {
      this.#reply ??= { lines: [], number };
      this.#reply.lines.push(content.text);
    }
  }

  *finish(): Generator<Event> {
    yield* this.#endPrompt();
    yield* this.#endReply();
  }

  *#endPrompt(): Generator<Event> {
    if (this.#prompt === null) return;
    const { lines, number } = this.#prompt;
    this.#prompt = null;
    this.#edits = [];
    const text = lines.join('\n').trim();
    const [, command] = RUN.exec(text) ?? [];
    const stamp = this.#stampOf(number);
    const said = text.replace(TALK, '');
    if (command !== undefined) yield this.#readCommand(stamp, text.startsWith('/git') ? `git ${command}` : command);
    else if (said !== '<blank>' && !/^\/[a-z][a-z-]*(?:\s|$)/.test(said)) yield* make.prompt(stamp, said);
  }

  *#endReply(): Generator<Event> {
    if (this.#reply === null) return;
    const { lines, number } = this.#reply;
    this.#reply = null;
    const { words, blocks } = separateEdits(lines);
    const stamp = this.#stampOf(number);
    yield* make.reply(stamp, words);
    for (const { path: name, before, after } of blocks) {
      const path = resolveFilePath(name, this.#cwd);
      const text = after === '' || before !== '' ? after : `${after}\n`;
      yield this.#makeEdit(stamp, this.#files.replace(path, before, text));
    }
  }

  *#readNote(note: string, number: number): Generator<Event> {
    const stamp = this.#stampOf(number);
    this.#stats.agentVersion = VERSION.exec(note)?.[1]?.toWellFormed() ?? this.#stats.agentVersion;
    this.#model = MODEL.exec(note)?.[1] ?? this.#model;
    const [, applied] = APPLIED.exec(note) ?? [];
    if (applied !== undefined) yield* this.#readApplied(stamp, applied, note);
    const [, command] = RUNNING.exec(note) ?? [];
    if (command !== undefined) yield this.#readCommand(stamp, command);
    if (REJECTED.test(note)) yield* this.#readRejected(stamp, note);
    if (PROVIDER_ERROR.test(note)) yield make.limit(stamp, note);
  }

  /** In some edit formats edits look like any other text: then only the name of the file is known. */
  *#readApplied(stamp: make.Stamp, name: string, note: string): Generator<Event> {
    const path = resolveFilePath(name, this.#cwd);
    if (!this.#edits.some((edit) => edit.path === path)) yield this.#makeEdit(stamp, this.#files.edit(path, '', ''));
    const done = this.#edits.filter((edit) => edit.path === path);
    this.#edits = this.#edits.filter((edit) => edit.path !== path);
    for (const { id } of done) yield make.result(stamp, { id, ok: true, exit: null, output: note });
  }

  #makeEdit(stamp: make.Stamp, edit: FileEdit): Event {
    const id = `call-${++this.#calls}`;
    this.#edits.push({ id, path: edit.path });
    return make.call(stamp, { id, tool: 'edit', action: { kind: 'edit', edits: [edit] } });
  }

  *#readRejected(stamp: make.Stamp, note: string): Generator<Event> {
    for (const { id } of this.#edits) yield make.result(stamp, { id, ok: false, exit: null, output: note });
    this.#edits = [];
  }

  /** The output of a command is not in the history. */
  #readCommand(stamp: make.Stamp, command: string): Event {
    const action = { kind: 'command', command: command.toWellFormed(), background: false } as const;
    return make.call(stamp, { id: `call-${++this.#calls}`, tool: 'run', action });
  }

  #stampOf(line: number): make.Stamp {
    return make.stamp({ at: null, line, id: null, cwd: this.#cwd, model: this.#model });
  }
}

type EditBlock = Record<'path' | 'before' | 'after', string>;

const SEARCH = /^<{5,9} SEARCH>?\s*$/;
const DIVIDER = /^={5,9}\s*$/;
const REPLACE = /^>{5,9} REPLACE\s*$/;
const FENCE = /^\s*(?:`{3,}|~{3,})/;

/** Separates the model's words from the blocks that edit files. A block without an end counts as words. */
function separateEdits(lines: readonly string[]): { words: string; blocks: EditBlock[] } {
  const words: string[] = [];
  const blocks: EditBlock[] = [];
  const ends = findEnds(lines);
  for (let i = 0; i < lines.length; i++) {
    const end = ends.get(i);
    if (end === undefined) {
      words.push(lines[i] ?? '');
      continue;
    }
    blocks.push({
      path: takePath(words) ?? blocks.at(-1)?.path ?? '',
      before: lines.slice(i + 1, end.divider).join('\n'),
      after: lines.slice(end.divider + 1, end.replace).join('\n'),
    });
    i = FENCE.test(lines[end.replace + 1] ?? '') ? end.replace + 1 : end.replace;
  }
  const said = words.join('\n').replace(/\n{3,}/g, '\n\n');
  return { words: said.trim(), blocks };
}

/** Where each complete block is divided and ends, by the line of its beginning. */
function findEnds(lines: readonly string[]): Map<number, { divider: number; replace: number }> {
  const ends = new Map<number, { divider: number; replace: number }>();
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

/** The name of the file is above the block, before or after the opening fence. */
function takePath(words: string[]): string | null {
  let path: string | null = null;
  let hasFence = false;
  for (;;) {
    const line = words.at(-1);
    if (line === undefined) return path;
    if (!hasFence && FENCE.test(line)) hasFence = true;
    else if (path === null && isFileName(cleanFileName(line))) path = cleanFileName(line);
    else return path;
    words.pop();
  }
}

function isFileName(name: string): boolean {
  if (name === '' || name.length >= 500 || /[.:!?]$/.test(name)) return false;
  return /[./\\]/.test(name) || !name.includes(' ');
}

/** Models decorate the name in various ways. */
function cleanFileName(line: string): string {
  const name = line.trim().replace(/^#+\s*/, '');
  const bare = name.replace(/:$/, '').replace(/^[`*]+|[`*]+$/g, '');
  return bare.trim();
}
