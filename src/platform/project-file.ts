import { lstatSync, mkdirSync, readdirSync, rmdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { attempt, catchErrno, HandoverError } from '../errors.ts';
import {
  isAbandonedTemp,
  isTempName,
  readRegularFile,
  removeFile,
  syncFolder,
  writeFileDurably,
} from './durable-file.ts';
import { listFolder } from './folders.ts';

/*
 * Files of a project are shared with people and other programs: permissions stay as they are, new files get the usual
 * ones, and no link is followed, because the project's authors could have planted it.
 */

/** Null when there is none. */
export function readProjectFile(path: string, maxBytes: number): Buffer | null {
  return catchErrno(['ENOENT', 'ENOTDIR'], null, () => readRegularFile(path, maxBytes));
}

/** Replaces or creates a file durably. Its folder must exist; temp files of killed writers in it are removed. */
export function writeProjectFile(path: string, data: string | Uint8Array): void {
  sweepAbandoned(dirname(path));
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isFile()) throw unsafePathError(path, 'is not a regular file');
  writeFileDurably(path, data, { mode: stat === undefined ? 'usual' : stat.mode & 0o777 });
}

/** Removes what killed writers left in a folder. */
export function sweepAbandoned(folder: string): void {
  for (const name of listFolder(folder))
    if (isTempName(name) && isAbandonedTemp(join(folder, name))) removeFile(join(folder, name));
}

/** Makes sure that each of `parts` below `root` is a folder and no link, and returns the last one. Its name is durable. */
export function ensureProjectFolder(root: string, ...parts: readonly string[]): string {
  ensureFolder(root, statSync(root, { throwIfNoEntry: false }));
  return parts.reduce((parent, part) => {
    const path = join(parent, part);
    ensureFolder(path, lstatSync(path, { throwIfNoEntry: false }));
    return path;
  }, root);
}

/** Whether `root` and each of `parts` below it is a folder and no link. */
export function isProjectFolder(root: string, ...parts: readonly string[]): boolean {
  const paths = [root, ...parts.map((_, at) => join(root, ...parts.slice(0, at + 1)))];
  return paths.every((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory());
}

function ensureFolder(path: string, stat: Stats | undefined): void {
  if (stat === undefined) makeFolder(path);
  else if (!stat.isDirectory()) throw unsafePathError(path, 'is not a folder');
}

function makeFolder(path: string): void {
  const parent = dirname(path);
  if (lstatSync(parent, { throwIfNoEntry: false }) === undefined) makeFolder(parent);
  attempt(() => mkdirSync(path), 'EEXIST');
  syncFolder(parent);
}

/** Does nothing while the folder holds anything. */
export function removeEmptyFolder(path: string): void {
  if (readdirSync(path).length > 0) return;
  rmdirSync(path);
  syncFolder(dirname(path));
}

const LOCKS = '.locks';
const IGNORE = '.gitignore';

/** The folder for locks on files in `folder`, ignored by git. */
export function ensureLockFolder(folder: string): string {
  const locks = ensureProjectFolder(folder, LOCKS);
  const ignore = join(locks, IGNORE);
  if (lstatSync(ignore, { throwIfNoEntry: false }) === undefined) writeProjectFile(ignore, '*\n');
  return locks;
}

/** Removes the folder for locks and `folder` itself, as far as nothing else is in them. */
export function removeLockFolder(folder: string): void {
  const locks = join(folder, LOCKS);
  if (listFolder(locks).join() === IGNORE) removeFile(join(locks, IGNORE));
  removeEmptyFolder(locks);
  removeEmptyFolder(folder);
}

function unsafePathError(path: string, wrong: string): HandoverError {
  const hint = 'A link or another kind of file is in the way of a file or folder of the project. Move it away.';
  return new HandoverError('HANDOVER_PATH_UNSAFE', `${path} ${wrong}`, { hint });
}
