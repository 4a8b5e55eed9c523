import { dirname, join, resolve } from 'node:path';
import { pathExists } from '../../platform/folders.ts';
import { readLines } from '../../platform/lines.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession } from '../agent.ts';

export const HISTORY_NAME = '.aider.chat.history.md';

export interface HistoryFile {
  path: string;
  /** The folder that paths in it are relative to. */
  cwd: string;
}

/**
 * Aider keeps its history in the project: in the root of the repository, or in the current folder where there is no
 * repository. There is no list of all projects, so only the one at hand is looked at.
 */
export function findHistories({ env, cwd }: Machine): HistoryFile[] {
  const root = findGitRoot(cwd);
  if (env.AIDER_CHAT_HISTORY_FILE) {
    return [{ path: resolve(cwd, env.AIDER_CHAT_HISTORY_FILE), cwd: root ?? cwd }];
  }
  const folders = root === null || root === cwd ? [cwd] : [cwd, root];
  return folders.map((folder) => ({ path: join(folder, HISTORY_NAME), cwd: folder }));
}

export function listTranscripts(machine: Machine): string[] {
  return findHistories(machine).map(({ path }) => path);
}

function findGitRoot(folder: string): string | null {
  for (let place = resolve(folder); ; place = dirname(place)) {
    if (pathExists(join(place, '.git'))) return place;
    if (place === dirname(place)) return null;
  }
}

/** What a line of a chat history is. Aider ends all lines but the model's with two spaces. */
export type HistoryLine =
  | { kind: 'start'; id: string; startedMs: number | null }
  | { kind: 'human' | 'note' | 'model'; text: string };

const START = /^# aider chat started at (\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\s*$/;
const LINE_BREAK = '  ';

export function readHistoryLine(line: string): HistoryLine {
  const start = START.exec(line);
  if (start !== null) return readStart(start.slice(1));
  if (line.endsWith(LINE_BREAK)) {
    if (line.startsWith('#### ')) return { kind: 'human', text: line.slice(5).trimEnd() };
    if (line.startsWith('> ')) return { kind: 'note', text: line.slice(2).trim() };
  }
  return { kind: 'model', text: line };
}

/** The time is that of the clock on the wall where aider ran, taken to be here. */
function readStart(digits: string[]): HistoryLine {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = digits.map(Number);
  const ms = new Date(year, month - 1, day, hour, minute, second).getTime();
  return {
    kind: 'start',
    id: `${digits.slice(0, 3).join('')}-${digits.slice(3).join('')}`,
    startedMs: Number.isNaN(ms) ? null : ms,
  };
}

export interface SessionLine {
  /** Of the session; aider has none, so the time of its start is taken. Null before the first start. */
  session: string | null;
  content: HistoryLine;
  /** In the file, from 1. */
  number: number;
  offset: number;
}

/** The lines of a history file with the session that each belongs to. */
export function* readHistory(path: string, onLongLine?: () => void): Generator<SessionLine> {
  const starts = new Map<string, number>();
  let session: string | null = null;
  for (const { bytes, number, offset } of readLines(path, onLongLine === undefined ? {} : { onLongLine })) {
    const content = readHistoryLine(bytes.toString('utf8').replace(/\r$/, ''));
    if (content.kind === 'start') {
      const count = (starts.get(content.id) ?? 0) + 1;
      starts.set(content.id, count);
      session = count === 1 ? content.id : `${content.id}-${count}`;
    }
    yield { session, content, number, offset };
  }
}

interface Section {
  id: string;
  startedMs: number | null;
  offset: number;
  hasPrompt: boolean;
}

/** The sessions in a history file. Those in which the human said nothing are left out. */
export function listSessions(
  path: string,
  { cwd, size, changedMs }: { cwd: string | null; size: number; changedMs: number },
): FoundSession[] {
  const sections: Section[] = [];
  for (const { session, content, offset } of readHistory(path)) {
    const section = sections.at(-1);
    if (content.kind === 'start' && session !== null) {
      sections.push({ id: session, startedMs: content.startedMs, offset, hasPrompt: false });
    } else if (content.kind === 'human' && section !== undefined) section.hasPrompt = true;
  }
  return sections.flatMap(({ id, startedMs, offset, hasPrompt }, index) => {
    const next = sections[index + 1];
    if (!hasPrompt) return [];
    return {
      agent: 'aider' as const,
      id,
      path,
      cwd,
      title: null,
      startedMs,
      changedMs: next?.startedMs ?? changedMs,
      bytes: (next?.offset ?? size) - offset,
      parent: null,
    };
  });
}
