import type { Fact } from '../model/fact.ts';
import type { GitFacts } from '../model/workspace.ts';

const CHANGED: ReadonlySet<string | undefined> = new Set(['created', 'edited', 'deleted']);

/** Whether a fact tells of a file that a session changed. */
export function isChangedFile(fact: Fact): boolean {
  return fact.kind === 'file' && CHANGED.has(fact.status);
}

/** The paths that git tells to differ from the last commit. */
export function listChanged(git: GitFacts): Set<string> {
  const files = [...git.staged, ...git.unstaged].map((file) => file.path);
  return new Set([...files, ...git.untracked, ...git.conflicted]);
}
