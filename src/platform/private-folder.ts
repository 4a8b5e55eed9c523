import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { HandoverError, hasErrno } from '../errors.ts';
import { syncFolder } from './durable-file.ts';

const PRIVATE_FOLDER = 0o700;

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
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) chmodSync(path, PRIVATE_FOLDER);
}

function createFolder(path: string): void {
  const parent = dirname(path);
  if (lstatOrNull(parent) === null) createFolder(parent);
  try {
    mkdirSync(path, PRIVATE_FOLDER);
  } catch (error) {
    if (!hasErrno(error, 'EEXIST')) throw error;
    assertOwnFolder(path, lstatSync(path));
    return;
  }
  chmodSync(path, PRIVATE_FOLDER);
  syncFolder(parent);
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
  try {
    return lstatSync(path);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return null;
    throw error;
  }
}
