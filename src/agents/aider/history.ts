import { readLines } from '../../platform/lines.ts';
import type { FoundSession } from '../agent.ts';
import { type HistoryLine, readHistoryLine } from './lines.ts';

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
