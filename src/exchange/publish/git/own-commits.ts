import { NOT_OF_MEMORY } from '../../../platform/git-facts.ts';
import { listGit, type Repo } from './repository.ts';

/** More than anybody reads. */
export const MAX_LISTED = 50;

/** Commits, newest first, each by its short name and its subject. `limits` say which, as `git log` takes them. */
export function listCommits(repo: Repo, limits: readonly string[], paths: readonly string[] = []): string[] {
  const shape = ['-z', '--format=%h %s', `--max-count=${MAX_LISTED}`, '--full-history'];
  return listGit(repo, ['log', ...shape, ...limits, '--', ...paths]);
}

/**
 * The commits among them that are the user's own: whatever no publication made, even if it holds nothing or memory alone,
 * from which no secret was taken out, and whatever holds more than memory.
 */
export function listOwnCommits(repo: Repo, limits: readonly string[], memory: readonly string[]): string[] {
  const unmarked = listCommits(repo, [...NOT_OF_MEMORY, ...limits]);
  const beyond = listCommits(repo, limits, exceptFor(memory));
  return [...new Set([...unmarked, ...beyond])];
}

/** Everything but these paths. */
export function exceptFor(paths: readonly string[]): string[] {
  return [':(top)', ...paths.map((path) => `:(top,exclude,literal)${path}`)];
}
