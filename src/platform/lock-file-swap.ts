import { constants, copyFileSync, linkSync, lstatSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { attempt, hasErrno } from '../errors.ts';
import { removeFile, syncFile, syncFolder } from './durable-file.ts';

/*
 * Replaces a file guarded by a lock file, as git guards its index: whoever creates `<path>.lock` may rename it to `path`.
 * The lock file is a hard link to a draft, so that one left by a kill is recognised as ours by its inode.
 */

/** A copy that shares nothing with what stood at `to` before. False when there is nothing to copy. */
export function replaceWithCopy(from: string, to: string): boolean {
  removeFile(to);
  return attempt(() => copyFileSync(from, to, constants.COPYFILE_EXCL), 'ENOENT');
}

/** The same as long as nobody has replaced or changed the file; null when there is none. */
export function describeVersion(path: string): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}`;
}

/** Puts `draft` in the place of `path`, if that still is of the version `expected` and nobody else holds its lock file. */
export function swapUnderLockFile(path: string, draft: string, expected: string | null): 'done' | 'locked' | 'changed' {
  const lock = `${path}.lock`;
  syncFile(draft);
  if (!createLockFile(draft, lock)) return 'locked';
  if (describeVersion(path) !== expected) {
    removeFile(lock);
    return 'changed';
  }
  renameSync(lock, path);
  syncFolder(dirname(path));
  removeFile(draft);
  return 'done';
}

/** Removes a lock file of ours that a kill left behind. */
export function removeOwnLockFile(path: string, draft: string): void {
  const lock = `${path}.lock`;
  const ours = lstatSync(draft, { throwIfNoEntry: false, bigint: true });
  const left = lstatSync(lock, { throwIfNoEntry: false, bigint: true });
  if (ours !== undefined && left !== undefined && ours.ino === left.ino && ours.dev === left.dev) removeFile(lock);
}

const NO_HARD_LINKS = ['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

function createLockFile(draft: string, lock: string): boolean {
  try {
    return attempt(() => linkSync(draft, lock), 'EEXIST');
  } catch (error) {
    if (!hasErrno(error, ...NO_HARD_LINKS)) throw error;
    return attempt(() => copyFileSync(draft, lock, constants.COPYFILE_EXCL), 'EEXIST');
  }
}
