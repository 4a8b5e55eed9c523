import { lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs';
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
import { listFolder } from './folders.ts';

/** The folder in a project that is ours: settings, the checkpoint, PAUSE. */
export const PROJECT_SETTINGS = '.agent-handover';

export function pathOfCheckpoint(root: string): string {
  return join(root, PROJECT_SETTINGS, 'checkpoint.json');
}

/**
 * The folder whose `.agent-handover` counts for a place: the nearest one, at it or above it, that has one of this user's
 * or that git works in; without any, the place itself. Needs nothing but the file system, for what has to be quick.
 */
export function findProjectFolder(folder: string): string {
  for (let current = folder; ; current = dirname(current)) {
    if (isOwn(join(current, PROJECT_SETTINGS)) || isOwn(join(current, '.git'))) return current;
    if (dirname(current) === current) return folder;
  }
}

/** What another user left in a folder above, such as the one for temporary files, must not decide anything. */
function isOwn(path: string): boolean {
  const stat = statOrUndefined(path);
  return stat !== undefined && (process.getuid === undefined || stat.uid === process.getuid());
}

function statOrUndefined(path: string): ReturnType<typeof lstatSync> | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/** The text of a file for a quick look: undefined when it is not there, null when it cannot be read that way. */
export function glanceAtFile(path: string): string | null | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    return stat.isFile() && stat.size < 1024 * 1024 ? readFileSync(path, 'utf8') : null;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

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
