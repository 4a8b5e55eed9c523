import { join } from 'node:path';
import { HandoverError } from '../../../errors.ts';
import { removeFile, writeFileDurably } from '../../../platform/durable-file.ts';
import { readHead } from '../../../platform/external-file.ts';
import { describeVersion } from '../../../platform/lock-file-swap.ts';
import { sleep } from '../../../platform/machine.ts';
import { toRelativePath } from '../../../platform/project.ts';
import { ensureWorkFolder, git, gitError, type Repo } from './repository.ts';

/** Null when the name refers to no commit. */
export function findCommit(repo: Repo, name: string): string | null {
  const result = git(repo, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]);
  const oid = result.stdout.toString('utf8').trim();
  return result.status === 0 && oid !== '' ? oid : null;
}

export function isAncestor(repo: Repo, ancestor: string, commit: string): boolean {
  return git(repo, ['merge-base', '--is-ancestor', ancestor, commit]).status === 0;
}

const PAUSE_MS = 100;
const MAX_TRIES = 30;

/** False, with nothing changed, when the ref is no longer at `from`. */
export function moveRef(repo: Repo, ref: string, { from, to }: { from: string | null; to: string }): boolean {
  const args = ['update-ref', '-m', 'handover: publish', ref, to, from ?? '0'.repeat(to.length)];
  for (let tries = 1; ; tries++) {
    const result = git(repo, args);
    if (result.status === 0) return true;
    if (findCommit(repo, ref) !== from) return false;
    if (result.status === null || !/\.lock'?: File exists/.test(result.stderr)) throw gitError(repo, args, result);
    if (tries === MAX_TRIES)
      throw new HandoverError('HANDOVER_GIT_BUSY', `another git process is moving ${ref} in ${repo.top}`, {
        hint: `Try again when it is done. If none is running, remove ${join(repo.commonDir, `${ref}.lock`)}`,
      });
    sleep(PAUSE_MS);
  }
}

/*
 * A killed git leaves lock files of the refs it was moving. The refs are therefore listed in a file while they move.
 * A process that finds that file while it holds the publication lock knows its writer is dead, and removes those of the locks that
 * stay unchanged for some seconds: a living git holds them only for an instant.
 */

const LIST = 'moving-refs';
const STALE_MS = 3000;
/** Relative to the common folder of all worktrees. */
const LISTED = /^(?!.*\.\.)(?:worktrees\/[^/\p{Cc}]+\/)?(?:HEAD|refs\/[^\p{Cc}]+)$/u;

export function recordMovingRefs(repo: Repo, refs: readonly string[]): void {
  const names = [toRelativePath(repo.commonDir, join(repo.gitDir, 'HEAD')), ...refs];
  writeFileDurably(join(ensureWorkFolder(repo), LIST), names.map((name) => `${name}\n`).join(''));
}

/** The caller holds the publication lock. */
export function releaseRefs(repo: Repo): void {
  const list = readHead(join(repo.workFolder, LIST), 64 * 1024)?.bytes.toString('utf8');
  if (list === undefined) return;
  const locks = list
    .split('\n')
    .filter((name) => LISTED.test(name))
    .map((name) => `${join(repo.commonDir, name)}.lock`)
    .map((path) => ({ path, version: describeVersion(path) }))
    .filter(({ version }) => version !== null);
  for (let waited = 0; waited < STALE_MS && locks.some(isUnchanged); waited += PAUSE_MS) sleep(PAUSE_MS);
  for (const lock of locks.filter(isUnchanged)) removeFile(lock.path);
  removeFile(join(repo.workFolder, LIST));
}

function isUnchanged({ path, version }: { path: string; version: string | null }): boolean {
  return describeVersion(path) === version;
}
