import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { HandoverError, hasErrno } from '../errors.ts';
import { syncFolder } from './durable-file.ts';

const PRIVATE_FOLDER = 0o700;
/**
 * The sticky bit, which means nothing on a folder that one user alone can enter. It stands from the making of a folder
 * until its name is safe from a power cut: whoever comes upon it, after the maker was killed or before it is done, must
 * not put anything there that the folder could take with it. Systems that do not set it lose only this precaution.
 */
const NEW = 0o1000;

/**
 * Makes sure that `root` and each of `parts` below it is a folder of ours that nobody else can enter, and returns the
 * last one. Below the root no link is followed: whoever can plant one there must not choose where we write.
 */
export function ensurePrivateFolder(root: string, ...parts: readonly string[]): string {
  let path = root;
  ensureFolder(path);
  for (const part of parts) {
    path = join(path, part);
    ensureFolder(path);
  }
  return path;
}

function ensureFolder(path: string): void {
  const stat = lstatOrNull(path);
  if (stat === null) {
    createFolder(path);
    return;
  }
  assertOwnFolder(path, stat);
  if (process.platform === 'win32') return;
  if ((stat.mode & NEW) !== 0) finishFolder(path);
  else if ((stat.mode & 0o077) !== 0) chmodSync(path, PRIVATE_FOLDER);
}

function createFolder(path: string): void {
  ensureParent(dirname(path));
  try {
    mkdirSync(path, PRIVATE_FOLDER | NEW);
  } catch (error) {
    if (!hasErrno(error, 'EEXIST')) throw error;
    ensureFolder(path);
    return;
  }
  finishFolder(path);
}

/** Folders above the root are not ours to judge, save one that was just made for it. */
function ensureParent(path: string): void {
  const stat = lstatOrNull(path);
  if (stat === null) createFolder(path);
  else if ((stat.mode & 0o1777) === (PRIVATE_FOLDER | NEW) && stat.uid === process.getuid?.())
    finishFolder(path);
}

function finishFolder(path: string): void {
  syncFolder(dirname(path));
  chmodSync(path, PRIVATE_FOLDER);
}

function assertOwnFolder(path: string, stat: Stats): void {
  if (!stat.isDirectory()) {
    throw new HandoverError('HANDOVER_PATH_UNSAFE', `${path} is not a folder`, {
      hint: 'A link or a file stands where the store keeps a folder. Move it away, or set HANDOVER_HOME to the real folder.',
    });
  }
  const user = process.getuid?.();
  if (user !== undefined && stat.uid !== user) {
    throw new HandoverError('HANDOVER_PATH_UNSAFE', `${path} belongs to another user`, {
      hint: 'Set HANDOVER_HOME to a folder of your own, or give this one back with chown.',
    });
  }
}

function lstatOrNull(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}
