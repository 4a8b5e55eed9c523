import { HandoverError } from '../../../errors.ts';
import { cleanText } from '../../../model/text.ts';
import { MEMORY_TRAILER, NOT_OF_MEMORY } from '../../../platform/git-facts.ts';
import type { Env } from '../../../platform/machine.ts';
import { askGit, git, listGit, type Repo } from './repository.ts';

const IDENTITY = [
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
] as const;

/** An identity that git would make up of the user's and the machine's name is none. */
const DECLARED_IDENTITY = 'user.useConfigOnly=true';

function identityOf({ machine }: Repo): Env {
  return Object.fromEntries(IDENTITY.flatMap((key) => (machine.env[key] ? [[key, machine.env[key]]] : [])));
}

export function assertIdentity(repo: Repo): void {
  for (const who of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT']) {
    const { status } = git(repo, ['var', who], {
      variables: identityOf(repo),
      settings: [DECLARED_IDENTITY],
    });
    if (status === 0) continue;
    throw new HandoverError('HANDOVER_GIT_IDENTITY_MISSING', `git does not know who commits in ${repo.top}`, {
      hint: 'Tell it: git config --global user.name "Your Name" && git config --global user.email you@example.com',
    });
  }
}

/** Makes a commit that no branch knows of yet. It is not signed, and no hook runs. */
export function writeCommit(
  repo: Repo,
  { tree, parent, message }: { tree: string; parent: string | null; message: string },
): string {
  const date = `@${Math.floor(repo.machine.clock.now() / 1000)} +0000`;
  const parents = parent === null ? [] : ['-p', parent];
  return askGit(repo, ['commit-tree', tree, ...parents, '-F', '-'], {
    input: `${cleanText(message)}\n\n${MEMORY_TRAILER}\n`,
    settings: [DECLARED_IDENTITY, 'i18n.commitEncoding=UTF-8'],
    variables: { ...identityOf(repo), GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
  });
}

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
export function listUserCommits(repo: Repo, limits: readonly string[], memory: readonly string[]): string[] {
  const unmarked = listCommits(repo, [...NOT_OF_MEMORY, ...limits]);
  const beyond = listCommits(repo, limits, outsideOf(memory));
  return [...new Set([...unmarked, ...beyond])];
}

/** Everything but these paths. */
export function outsideOf(paths: readonly string[]): string[] {
  return [':(top)', ...paths.map((path) => `:(top,exclude,literal)${path}`)];
}
