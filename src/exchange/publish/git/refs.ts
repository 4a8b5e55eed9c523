import { join } from 'node:path';
import { HandoverError } from '../../../errors.ts';
import { removeFile, writeFileDurably } from '../../../platform/durable-file.ts';
import { readHead } from '../../../platform/external-file.ts';
import { describeVersion } from '../../../platform/lock-file-swap.ts';
import { sleep } from '../../../platform/machine.ts';
import { toRelativePath } from '../../../platform/place.ts';
import { ensureWorkFolder, git, gitError, type Repo } from './repository.ts';

/** The commit that a ref, or any other name, stands for; null when there is none. */
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

/** Moves a ref from one commit to another. False when it is no longer where it was, and then nothing was changed. */
export function moveRef(repo: Repo, ref: string, { from, to }: { from: string | null; to: string }): boolean {
  const args = ['update-ref', '-m', 'handover: publish', ref, to, from ?? '0'.repeat(to.length)];
  for (let tries = 1; ; tries++) {
    const result = git(repo, args);
    if (result.status === 0) return true;
    if (findCommit(repo, ref) !== from) return false;
    if (result.status === null || !/\.lock'?: File exists/.test(result.stderr))
      throw gitError(repo, args, result);
    if (tries === MAX_TRIES) throw refLockedError(repo, ref);
    sleep(PAUSE_MS);
  }
}

function refLockedError({ top, commonDir }: Repo, ref: string): HandoverError {
  return new HandoverError('HANDOVER_GIT_BUSY', `another git is moving ${ref} in ${top}`, {
    hint: `Try again when it is done. If none is running, remove ${join(commonDir, `${ref}.lock`)}`,
  });
}

/*
 * A git that is killed leaves the lock files of the refs that it was about to move. While refs are moved a note of them
 * stands beside the repository. Whoever finds it has outlived the one who wrote it, and takes away those of these locks
 * that do not go away by themselves: a git that is alive holds them for an instant.
 */

const NOTE = 'moving-refs';
const MAX_NOTE_BYTES = 64 * 1024;
const OUTLIVED_MS = 3000;
/** A name below the folder that all worktrees share. */
const NOTED = /^(?!.*\.\.)(?:worktrees\/[^/\p{Cc}]+\/)?(?:HEAD|refs\/[^\p{Cc}]+)$/u;

export function recordMovingRefs(repo: Repo, refs: readonly string[]): void {
  const names = [toRelativePath(repo.commonDir, join(repo.gitDir, 'HEAD')), ...refs];
  writeFileDurably(join(ensureWorkFolder(repo), NOTE), names.map((name) => `${name}\n`).join(''));
}

export function forgetMovingRefs(repo: Repo): void {
  removeFile(join(repo.workFolder, NOTE));
}

/** The caller holds the lock of the repository's publications. */
export function releaseRefs(repo: Repo): void {
  const note = readHead(join(repo.workFolder, NOTE), MAX_NOTE_BYTES)?.bytes.toString('utf8');
  if (note === undefined) return;
  const standing = note
    .split('\n')
    .filter((name) => NOTED.test(name))
    .map((name) => `${join(repo.commonDir, name)}.lock`)
    .map((path) => ({ path, version: describeVersion(path) }))
    .filter(({ version }) => version !== null);
  for (let waited = 0; waited < OUTLIVED_MS && standing.some(isUnchanged); waited += PAUSE_MS)
    sleep(PAUSE_MS);
  for (const lock of standing.filter(isUnchanged)) removeFile(lock.path);
  forgetMovingRefs(repo);
}

function isUnchanged({ path, version }: { path: string; version: string | null }): boolean {
  return describeVersion(path) === version;
}
