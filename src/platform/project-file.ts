import { lstatSync, mkdirSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HandoverError, hasErrno } from '../errors.ts';
import {
  isAbandonedTemp,
  isTempName,
  readRegularFile,
  removeFile,
  syncFolder,
  writeFileDurably,
} from './durable-file.ts';
import { listFolder } from './folder-listing.ts';

/*
 * Files that people and other programs read and write too, as those of a project: permissions stay as they are, or are
 * what is usual for the user, and no link is followed, because whoever wrote the project could have put it there.
 */

/** Null when there is none. */
export function readProjectFile(path: string, maxBytes: number): Buffer | null {
  try {
    return readRegularFile(path, maxBytes);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}

/** Replaces or creates a file durably. Its folder must be there; what a killed writer left in it is swept up. */
export function writeProjectFile(path: string, data: string | Uint8Array): void {
  sweepAbandoned(dirname(path));
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isFile()) throw refusePath(path, 'is not a regular file');
  writeFileDurably(path, data, { mode: stat === undefined ? 'usual' : stat.mode & 0o777 });
}

/** Removes what killed writers left in a folder. */
export function sweepAbandoned(folder: string): void {
  for (const name of listFolder(folder))
    if (isTempName(name) && isAbandonedTemp(join(folder, name))) removeFile(join(folder, name));
}

/** Makes sure that each of `parts` below `root` is a folder and no link, and returns the last one. Its name is durable. */
export function ensureProjectFolder(root: string, ...parts: readonly string[]): string {
  let path = root;
  const top = statSync(path, { throwIfNoEntry: false });
  if (top === undefined) makeFolder(path);
  else if (!top.isDirectory()) throw refusePath(path, 'is not a folder');
  for (const part of parts) {
    path = join(path, part);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) makeFolder(path);
    else if (!stat.isDirectory()) throw refusePath(path, 'is not a folder');
  }
  return path;
}

function makeFolder(path: string): void {
  const parent = dirname(path);
  if (lstatSync(parent, { throwIfNoEntry: false }) === undefined) makeFolder(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    if (!hasErrno(error, 'EEXIST')) throw error;
  }
  syncFolder(parent);
}

/** Does nothing while the folder holds anything. */
export function removeEmptyFolder(path: string): void {
  if (readdirSync(path).length > 0) return;
  rmdirSync(path);
  syncFolder(dirname(path));
}

const LOCKS = '.locks';

/** A folder for the locks of what lies in `folder`, which git is told to pass over. */
export function ensureLockFolder(folder: string): string {
  const locks = ensureProjectFolder(folder, LOCKS);
  const ignore = join(locks, '.gitignore');
  if (lstatSync(ignore, { throwIfNoEntry: false }) === undefined) writeProjectFile(ignore, '*\n');
  return locks;
}

function refusePath(path: string, wrong: string): HandoverError {
  return new HandoverError('HANDOVER_PATH_UNSAFE', `${path} ${wrong}`, {
    hint: 'A link, or something else, stands where a file or a folder of the project is to be. Move it away.',
  });
}
