import { join } from 'node:path';
import { HandoverError } from '../errors.ts';
import { hasRunSettings, MEMORY_FOLDER } from '../memory/layout.ts';
import { cleanLine } from '../model/text.ts';
import type { Machine } from '../platform/machine.ts';
import { findWorktreeRoot } from '../platform/worktree.ts';
import type { NotesPlace } from '../search/notes.ts';
import { SCAN_LIMITS } from '../search/query.ts';
import type { SearchAnswer } from '../search/search.ts';
import type { Scope } from '../store/find-handover.ts';
import { type FactSource, openFactSource } from './ask/session-summary.ts';
import { type Context, findStore, redactInput } from './context.ts';
import type { Notice } from './notices.ts';

/** Where the current project keeps its notes; null when its folder cannot be reached. */
export async function findNotes(machine: Machine): Promise<NotesPlace | null> {
  const folder = findWorktreeRoot(machine.cwd);
  if (folder === null) return null;
  if (!hasRunSettings(machine, folder)) return { folder, memoryDir: join(folder, MEMORY_FOLDER) };
  const { findMemoryDir } = await import('../memory/runs/run-config.ts');
  return { folder, memoryDir: findMemoryDir(machine, folder) };
}

/** The same answer, without the words of a query that has a secret in it. */
export async function hideSecretWords(context: Context, query: string, answer: SearchAnswer): Promise<SearchAnswer> {
  if (answer.instead.length === 0 || (await redactInput(context, query)) === query) return answer;
  return { ...answer, instead: [] };
}

/** What a search could not look at, and why. */
export function listSearchNotices(
  answer: Partial<Pick<SearchAnswer, 'sessions' | 'meaning' | 'indexFailure' | 'asTyped' | 'instead'>>,
): Notice[] {
  const { sessions, meaning, indexFailure = null, asTyped = true, instead = [] } = answer;
  const notices = listIndexNotices({ indexFailure });
  const note = (text: string): number => notices.push({ level: 'note', text });
  if (!asTyped) note(`nothing matches as typed: ${describeInstead(instead)}`);
  if (meaning?.trouble) {
    const { message, hint } = meaning.trouble;
    const text = `searched mostly by words: ${message}`;
    notices.push({ level: 'note', text, ...(hint === undefined ? {} : { next: hint }) });
  } else if (meaning !== undefined && meaning.missing > 0) {
    const known = meaning.texts - meaning.missing;
    note(`${known} of ${meaning.texts} facts are embedded; to embed all: handover search --embed`);
  }
  if (sessions === undefined) return notices;
  if (sessions.by === 'scan') note(`without SQLite only the newest ${SCAN_LIMITS.sessions} sessions are searched`);
  if (sessions.behind > 0)
    note(`${countSessions(sessions.behind)} not read yet and not searched; to read all: handover search --sessions`);
  if (sessions.damaged > 0)
    note(`the stored text of some sessions is damaged (${sessions.damaged}); see: handover doctor`);
  if (sessions.unread > 0) note(`${countSessions(sessions.unread)} skipped: not readable right now`);
  return notices;
}

function describeInstead(instead: SearchAnswer['instead']): string {
  const list = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(', ');
  const replaced = instead.flatMap(({ typed, found }) =>
    found.length === 0 ? [] : [`${list(found)} for ${list([typed])}`],
  );
  const missing = instead.flatMap(({ typed, found }) => (found.length === 0 ? [typed] : []));
  const shown = replaced.length === 0 ? 'shown is what comes closest' : `shown is what has ${replaced.join('; ')}`;
  return missing.length === 0 ? shown : `${shown}; nowhere is ${list(missing)}`;
}

function countSessions(count: number): string {
  return count === 1 ? '1 session was' : `${count} sessions were`;
}

/** Reading every file takes long; the user should know why. */
function listIndexNotices({ indexFailure }: Pick<SearchAnswer, 'indexFailure'>): Notice[] {
  if (indexFailure === null) return [];
  if (indexFailure instanceof HandoverError && indexFailure.code === 'HANDOVER_LOCKED')
    return [{ level: 'note', text: 'another process is writing the search index, so every file was read' }];
  const text = `the search index is not usable right now (${cleanLine(indexFailure.message)}), so every file was read; see: handover doctor`;
  return [{ level: 'note', text }];
}

/** Opens the facts within a scope for `ask` and closes them afterwards. */
export async function withFactSource<T>(
  context: Context,
  scope: Scope,
  ask: (source: FactSource) => Promise<T>,
): Promise<T> {
  const { openFinder } = await import('../search/search.ts');
  const finder = await openFinder({ store: findStore(context), progress: context.progress('indexing') });
  for (const notice of listIndexNotices(finder)) context.notify(notice);
  try {
    return await ask(openFactSource(finder, scope));
  } finally {
    finder.close();
  }
}
