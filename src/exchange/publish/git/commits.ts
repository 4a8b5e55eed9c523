import { HandoverError } from '../../../errors.ts';
import { cleanText } from '../../../model/text.ts';
import { MEMORY_TRAILER, NOT_OF_MEMORY } from '../../../platform/git-state.ts';
import type { Env } from '../../../platform/machine.ts';
import { git, listGit, type Repo, requireGit } from './repository.ts';

const IDENTITY = ['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL'];

/** No identity that git would derive from the names of user and host. */
const DECLARED_IDENTITY = 'user.useConfigOnly=true';

function identityOf({ machine }: Repo): Env {
  return Object.fromEntries(IDENTITY.flatMap((key) => (machine.env[key] ? [[key, machine.env[key]]] : [])));
}

export function assertIdentity(repo: Repo): void {
  for (const who of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT']) {
    const extra = { variables: identityOf(repo), settings: [DECLARED_IDENTITY] };
    if (git(repo, ['var', who], extra).status === 0) continue;
    const message = `git has no user name and email for commits in ${repo.top}`;
    const hint =
      'Set them: git config --global user.name "Your Name" && git config --global user.email you@example.com';
    throw new HandoverError('HANDOVER_GIT_IDENTITY_MISSING', message, { hint });
  }
}

/** Creates a commit that is on no branch yet. Unsigned; no hook runs. */
export function writeCommit(
  repo: Repo,
  { tree, parent, message }: { tree: string; parent: string | null; message: string },
): string {
  const date = `@${Math.floor(repo.machine.clock.now() / 1000)} +0000`;
  const parents = parent === null ? [] : ['-p', parent];
  return requireGit(repo, ['commit-tree', tree, ...parents, '-F', '-'], {
    input: `${cleanText(message)}\n\n${MEMORY_TRAILER}\n`,
    settings: [DECLARED_IDENTITY, 'i18n.commitEncoding=UTF-8'],
    variables: { ...identityOf(repo), GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
  });
}

export const MAX_LISTED = 50;

/** Short hash and subject of commits, newest first. `limits` are arguments of `git log`. */
export function listCommits(repo: Repo, limits: readonly string[], paths: readonly string[] = []): string[] {
  const shape = ['-z', '--format=%h %s', `--max-count=${MAX_LISTED}`, '--full-history'];
  return listGit(repo, ['log', ...shape, ...limits, '--', ...paths]);
}

/** Commits that no publication made (even of memory only: they are not redacted), or that change anything else. */
export function listUserCommits(repo: Repo, limits: readonly string[], memory: readonly string[]): string[] {
  const unmarked = listCommits(repo, [...NOT_OF_MEMORY, ...limits]);
  return [...new Set([...unmarked, ...listCommits(repo, limits, outsideOf(memory))])];
}

/** A pathspec for everything but these paths. */
export function outsideOf(paths: readonly string[]): string[] {
  return [':(top)', ...paths.map((path) => `:(top,exclude,literal)${path}`)];
}
