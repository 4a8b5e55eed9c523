import { basename, dirname, join, resolve } from 'node:path';
import { type FileHead, readHead } from '../../platform/external-file.ts';
import { pathExists } from '../../platform/folders.ts';
import { readLines } from '../../platform/lines.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession } from '../agent.ts';

const HISTORY_NAME = '.aider.chat.history.md';

/** Aider keeps its history in the project, and no list of projects. Paths in a history are relative to its `cwd`. */
function listHistories({ env, cwd }: Machine): { path: string; cwd: string }[] {
  const root = findGitRoot(cwd);
  if (env.AIDER_CHAT_HISTORY_FILE) return [{ path: resolve(cwd, env.AIDER_CHAT_HISTORY_FILE), cwd: root ?? cwd }];
  const folders = root === null || root === cwd ? [cwd] : [cwd, root];
  return folders.map((folder) => ({ path: join(folder, HISTORY_NAME), cwd: folder }));
}

function findGitRoot(start: string): string | null {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    if (pathExists(join(folder, '.git'))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

export function listTranscripts(machine: Machine): string[] {
  return listHistories(machine).map(({ path }) => path);
}

export function* findSessions(machine: Machine): Generator<FoundSession> {
  for (const { path, cwd } of listHistories(machine)) {
    const head = readHead(path, 0);
    if (head !== null) yield* listSessions(path, cwd, head);
  }
}

const OPENING = /^\s*# aider chat started at \d{4}-/;

/** The newest session of the file: aider appends all to one. */
export function inspectFile(path: string): FoundSession | null {
  const isOwn = basename(path) === HISTORY_NAME;
  const head = readHead(path, 1024);
  if (head === null || !(isOwn || OPENING.test(head.bytes.toString('latin1')))) return null;
  return listSessions(path, isOwn ? dirname(path) : null, head).at(-1) ?? null;
}

/** A project can hold a file of any size under that name. Years of work with aider take less. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The sessions in a history file. Those in which the human said nothing are left out. */
function listSessions(path: string, cwd: string | null, file: FileHead): FoundSession[] {
  if (file.size > MAX_BYTES) return [];
  const sections: { id: string; startedMs: number | null; offset: number; hasPrompt: boolean }[] = [];
  for (const { session, content, offset } of readHistory(path, undefined, true)) {
    const section = sections.at(-1);
    if (content.kind === 'start' && session !== null) {
      sections.push({ id: session, startedMs: content.startedMs, offset, hasPrompt: false });
    } else if (content.kind === 'human' && section !== undefined) section.hasPrompt = true;
  }
  return sections.flatMap(({ id, startedMs, offset, hasPrompt }, index) => {
    const next = sections[index + 1];
    const changedMs = next?.startedMs ?? file.changedMs;
    const bytes = (next?.offset ?? file.size) - offset;
    const session = { id, path, cwd, title: null, startedMs, changedMs, bytes, parent: null };
    return hasPrompt ? { agent: 'aider' as const, ...session } : [];
  });
}

/** A line of a chat history. Aider ends all lines but the model's with two spaces. */
type HistoryLine =
  | { kind: 'start'; id: string; startedMs: number | null }
  | { kind: 'human' | 'note' | 'model'; text: string };

const HASH = 0x23;
const START = /^# aider chat started at (\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\s*$/;

function parseLine(line: string): HistoryLine {
  const start = START.exec(line);
  if (start !== null) return parseStart(start.slice(1));
  if (line.endsWith('  ')) {
    if (line.startsWith('#### ')) return { kind: 'human', text: line.slice(5).trimEnd() };
    if (line.startsWith('> ')) return { kind: 'note', text: line.slice(2).trim() };
  }
  return { kind: 'model', text: line };
}

/** The time is local to where aider ran, which is taken to be here. */
function parseStart(digits: string[]): HistoryLine {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = digits.map(Number);
  const ms = new Date(year, month - 1, day, hour, minute, second).getTime();
  const id = `${digits.slice(0, 3).join('')}-${digits.slice(3).join('')}`;
  return { kind: 'start', id, startedMs: Number.isNaN(ms) ? null : ms };
}

export interface SessionLine {
  /** The id, made from the time of the start, as aider has none. Null before the first start. */
  session: string | null;
  content: HistoryLine;
  /** In the file, from 1. */
  number: number;
  offset: number;
}

/** The lines of a history file with the session that each belongs to; only those of starts and requests if so wished. */
export function* readHistory(path: string, onLongLine?: () => void, headsOnly = false): Generator<SessionLine> {
  const starts = new Map<string, number>();
  let session: string | null = null;
  for (const { bytes, number, offset } of readLines(path, onLongLine === undefined ? {} : { onLongLine })) {
    if (headsOnly && bytes[0] !== HASH) continue;
    const content = parseLine(bytes.toString('utf8').replace(/\r$/, ''));
    if (content.kind === 'start') {
      const count = (starts.get(content.id) ?? 0) + 1;
      starts.set(content.id, count);
      session = count === 1 ? content.id : `${content.id}-${count}`;
    }
    yield { session, content, number, offset };
  }
}
