import { HandoverError } from '../../../errors.ts';
import { findOperation } from '../../../platform/git-state.ts';
import type { GitSettings } from '../../../platform/publish-settings.ts';
import { hideCredentials, hideRemotesIn } from '../../../platform/remote-address.ts';
import { notConfiguredError } from '../../errors.ts';
import { git, type Repo, requireGit } from './repository.ts';

export interface Upstream {
  remote: string;
  /** The full name of the remote branch. */
  ref: string;
  /** The remote-tracking ref. */
  tracking: string;
}

/** The branch to publish. */
export interface Target {
  ref: string;
  /** Whether it is checked out here; index and worktree are updated with it then. */
  isCurrent: boolean;
  /** Null when nothing is to be pushed. */
  upstream: Upstream | null;
}

export function findTarget(repo: Repo, settings: GitSettings): Target {
  const ref = settings.ref ?? readCurrentBranch(repo);
  if (settings.ref !== undefined) assertNotCheckedOut(repo, settings.ref);
  const upstream = settings.push ? findUpstream(repo, ref, settings) : null;
  return { ref, isCurrent: settings.ref === undefined, upstream };
}

function readCurrentBranch(repo: Repo): string {
  const operation = findOperation(repo.gitDir);
  if (operation !== null)
    throw new HandoverError('HANDOVER_GIT_BUSY', `a ${operation} is under way in ${repo.top}`, {
      hint: `Finish or abort it (git status says how), and publish again.`,
    });
  const result = git(repo, ['symbolic-ref', '--quiet', 'HEAD']);
  const ref = result.stdout.toString('utf8').trim();
  if (result.status === 0 && ref.startsWith('refs/heads/')) return ref;
  throw new HandoverError('HANDOVER_GIT_DETACHED', `no branch is checked out in ${repo.top}`, {
    hint: 'Check one out (git switch BRANCH), or give memory a dedicated branch: ref = "refs/heads/memory" below [publish.git] in your config.toml.',
  });
}

/** A dedicated branch is written without a worktree; one that has it checked out would fall behind. */
function assertNotCheckedOut(repo: Repo, ref: string): void {
  if (git(repo, ['check-ref-format', ref]).status !== 0)
    throw notConfiguredError(`"${ref}" is not a valid name of a branch`, {
      hint: 'Correct publish.git.ref in your config.toml.',
    });
  if (!requireGit(repo, ['worktree', 'list', '--porcelain']).split('\n').includes(`branch ${ref}`)) return;
  throw notConfiguredError(`${ref} is checked out, so it cannot be the dedicated branch of memory`, {
    hint: 'Switch to another branch, or leave publish.git.ref out of your config.toml to publish on the current one.',
  });
}

function findUpstream(repo: Repo, ref: string, settings: GitSettings): Upstream {
  const branch = ref.slice('refs/heads/'.length);
  const remotes: string[] = requireGit(repo, ['remote']).match(/[^\n]+/g) ?? [];
  const configured = readSetting(repo, `branch.${branch}.remote`);
  const merge = readSetting(repo, `branch.${branch}.merge`);
  if (configured !== null && merge !== null && remotes.includes(configured))
    return { remote: configured, ref: merge, tracking: nameTracking(configured, merge) };
  const [first = null] = remotes;
  const only = remotes.length === 1 ? first : null;
  const remote = settings.remote ?? (settings.ref === undefined ? null : only);
  if (remote !== null && remotes.includes(remote)) return { remote, ref, tracking: nameTracking(remote, ref) };
  if (remote !== null)
    throw notConfiguredError(`this repository has no remote "${remote}"`, {
      hint: 'Correct publish.git.remote in your config.toml, or add it with git remote add.',
    });
  if (remotes.length === 0)
    throw notConfiguredError('this repository has no remote to push to', {
      hint: 'Add one (git remote add origin URL), or set push = false below [publish.git] in your config.toml to commit only.',
    });
  throw notConfiguredError(`the branch ${branch} has no upstream`, {
    hint: `Set one: git push --set-upstream ${remotes[0] ?? 'origin'} ${branch} (or set remote below [publish.git] in your config.toml)`,
  });
}

function nameTracking(remote: string, ref: string): string {
  return ref.replace(/^refs\/heads\//, `refs/remotes/${remote}/`);
}

function readSetting(repo: Repo, key: string): string | null {
  const result = git(repo, ['config', '--null', '--get', key]);
  const value = result.stdout.toString('utf8').replace(/\0$/, '');
  return result.status === 0 && value !== '' && !value.startsWith('-') ? value : null;
}

/** The address is shown without credentials. */
export function describeUpstream(repo: Repo, { remote, ref }: Upstream): string {
  return `${hideCredentials(readSetting(repo, `remote.${remote}.url`) ?? remote)} ${ref}`;
}

/** What git says about a remote, without the credentials in any of its addresses. */
export function hideUpstreamIn(repo: Repo, { remote }: Upstream, text: string): string {
  const ways = [
    ['config', '--get-all', `remote.${remote}.url`],
    ['remote', 'get-url', '--all', remote],
  ];
  const pushWays = [
    ['config', '--get-all', `remote.${remote}.pushurl`],
    ['remote', 'get-url', '--push', '--all', remote],
  ];
  const urls = [...ways, ...pushWays].flatMap(
    (args) =>
      git(repo, args)
        .stdout.toString('utf8')
        .match(/[^\n]+/g) ?? [],
  );
  return hideRemotesIn(text, urls);
}
