import { getText } from '../../src/agents/shared/json.ts';
import { listTasks, listTouched, type ToolCall } from '../corpus/transcript.ts';
import { isNamedIn } from '../names/known-text.ts';
import { baseName, findPaths } from '../names/paths.ts';
import { Quoter } from '../names/words.ts';
import type { Measured } from './metrics.ts';

/** What was so once and is not any more. */
export interface Past {
  /** Tasks that the last plan has as completed. */
  doneTasks: readonly string[];
  /** Base names of files that were removed and not touched again. */
  removedFiles: ReadonlySet<string>;
}

export function gatherPast(calls: readonly ToolCall[]): Past {
  const removed = new Set<string>();
  for (const call of calls) {
    const { edited, read, commands } = listTouched([call]);
    for (const path of [...edited, ...read]) removed.delete(baseName(path));
    for (const path of commands.flatMap(findRemoved)) removed.add(baseName(path));
  }
  const done = listTasks(calls).filter((todo) => todo.status === 'completed');
  return { doneTasks: done.flatMap((todo) => getText(todo, 'content') || []), removedFiles: removed };
}

const REMOVAL = /(?:^|[;&|\n])\s*(?:git\s+)?rm\s+([^;&|\n]+)/g;

function findRemoved(command: string): string[] {
  return [...command.matchAll(REMOVAL)].flatMap(([, words = '']) => [...findPaths(words)]);
}

const SHOWN_OPEN = /\[(?:pending|in_progress| )\]/;
const SAYS_REMOVED = /delet|remov|\brm\b/i;
const ENOUGH = 0.7;

/** Of the tasks shown as open and the files named, the share that is so no more. */
export function measureStaleness(text: string, { doneTasks, removedFiles }: Past): Measured | null {
  const lines = text.split('\n');
  const open = lines.filter((line) => SHOWN_OPEN.test(line));
  const files = new Set([...findPaths(text)].map(baseName));
  const stale = [
    ...open.filter((line) => {
      const quoter = new Quoter(line);
      return doneTasks.some((task) => quoter.measureQuote(task, 2) >= ENOUGH);
    }),
    ...[...files].filter(
      (file) => removedFiles.has(file) && lines.every((line) => !isNamedIn(file, line) || !SAYS_REMOVED.test(line)),
    ),
  ];
  const count = open.length + files.size;
  return count === 0 ? null : { value: stale.length / count, missed: stale };
}
