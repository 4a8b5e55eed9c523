import { join } from 'node:path';
import { HandoverError } from '../../../errors.ts';
import { ensurePrivateFolder } from '../../../platform/folders.ts';
import { type GitOptions, locateRepository, runGit } from '../../../platform/git.ts';
import type { Machine } from '../../../platform/machine.ts';
import type { ProgramResult } from '../../../platform/processes.ts';
import { toRelativePath } from '../../../platform/project.ts';
import { hideRemotesIn } from '../../../platform/remote-address.ts';
import { notConfiguredError } from '../../errors.ts';

/** A repository, seen from one of its worktrees. */
export interface Repo {
  machine: Machine;
  /** The worktree's top level. */
  top: string;
  gitDir: string;
  commonDir: string;
  /** From the repository to the project: empty, or ending in a slash. */
  prefix: string;
  /** Our own folder, shared by all worktrees, for drafts and the lock. */
  workFolder: string;
}

/** `root` is a real path. */
export function openRepo(root: string, machine: Machine): Repo {
  const found = locateRepository(root, machine.env);
  if (found.state === 'missing')
    throw new HandoverError('HANDOVER_PROGRAM_MISSING', 'git was not found, or cannot be run', {
      hint: 'Install git, or add the folder it is in to PATH. Nothing was published.',
    });
  if (found.state !== 'present' || found.top === null) {
    const what = found.state === 'present' ? 'has no worktree' : 'is not in a git repository that can be read';
    throw notConfiguredError(`${root} ${what}`, {
      hint: 'Publish from a worktree, create one with git init, or choose another backend in your config.toml.',
    });
  }
  const { top, gitDir, commonDir } = found;
  const inside = toRelativePath(top, root);
  const prefix = inside === '' ? '' : `${inside}/`;
  return { machine, top, gitDir, commonDir, prefix, workFolder: join(commonDir, 'agent-handover') };
}

export function ensureWorkFolder({ workFolder }: Repo): string {
  return ensurePrivateFolder(workFolder);
}

/** Git flushes everything to disk before it exits. */
export const DURABLE = ['core.fsync=all', 'core.fsyncObjectFiles=true'];

export type Extra = Pick<GitOptions, 'input' | 'variables' | 'settings' | 'contactsRemote' | 'timeoutMs'>;

export function git(repo: Repo, args: readonly string[], extra: Extra = {}): ProgramResult {
  return runGit(args, {
    timeoutMs: 60_000,
    ...extra,
    cwd: repo.top,
    env: repo.machine.env,
    settings: [...DURABLE, ...(extra.settings ?? [])],
  });
}

/** Throws unless git succeeds. Returns its output without the final newline. */
export function requireGit(repo: Repo, args: readonly string[], extra: Extra = {}): string {
  const result = git(repo, args, extra);
  if (result.status === 0 && !result.truncated) return result.stdout.toString('utf8').replace(/\n$/, '');
  throw gitError(repo, args, result);
}

/** The same for NUL-terminated records. */
export function listGit(repo: Repo, args: readonly string[], extra: Extra = {}): string[] {
  return requireGit(repo, args, extra).split('\0').filter(Boolean);
}

export function gitError({ top }: Repo, args: readonly string[], result: ProgramResult): HandoverError {
  const { status } = result;
  const stderr = hideRemotesIn(result.stderr, []);
  const how = status === null ? 'was ended by a signal' : `ended with ${status}`;
  const message = `git ${args[0] ?? ''} ${how} in ${top}: ${errorLineOf(stderr)}`;
  return new HandoverError('HANDOVER_GIT_FAILED', message, {
    hint: 'Your files were not changed. Look at the repository with git status, and publish again.',
    data: { status, stderr },
  });
}

/** Git's error, without the advice around it. */
export function errorLineOf(stderr: string): string {
  const lines = stderr.trim().split('\n');
  return (lines.find((line) => /^(?:fatal|error): /.test(line)) ?? lines.at(-1) ?? '').trim();
}
