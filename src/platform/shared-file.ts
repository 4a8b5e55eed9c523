import { lstatSync, mkdirSync, rmdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { attempt, HandoverError } from '../errors.ts';
import {
  isAbandonedTemp,
  isTempName,
  readRegularFile,
  removeFile,
  syncFolder,
  writeFileDurably,
} from './durable-file.ts';
import { listNames } from './external-file.ts';
import { resolveRealPath } from './folders.ts';

/** A file of another program that is also written by us. */
export interface SharedFile {
  /** Where it really is, at the end of all links. */
  path: string;
  bytes: Buffer;
  mode: number;
  owner: { uid: number; gid: number };
}

const MAX_BYTES = 16 * 1024 * 1024;

/** Null when there is none. Links are followed; a dangling one is an error. */
export function readSharedFile(path: string): SharedFile | null {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
  const real = resolveRealPath(path);
  if (real === null) throw unsafeFileError(path, 'is a dangling link');
  const stat = statSync(real);
  if (!stat.isFile()) throw unsafeFileError(path, 'is not a regular file');
  if (stat.size > MAX_BYTES) throw unsafeFileError(path, `is larger than ${MAX_BYTES} bytes`);
  const bytes = readRegularFile(real, MAX_BYTES);
  return { path: real, bytes, mode: stat.mode & 0o7777, owner: { uid: stat.uid, gid: stat.gid } };
}

/** A write-protected file in one's own folder could be replaced, but its owner does not want that. */
export function assertWritable({ path, mode }: SharedFile): void {
  if ((mode & 0o222) !== 0) return;
  const hint = 'Another program may manage it. Make it writable with chmod u+w, or change it there.';
  throw new HandoverError('HANDOVER_PERMISSION', `${path} is write-protected`, { hint });
}

/** Whole or not at all, with the same mode and owner. Refused when the file is no longer what was read. */
export function replaceSharedFile(read: SharedFile, bytes: Uint8Array): void {
  assertUnchanged(read);
  writeFileDurably(read.path, bytes, { mode: read.mode, owner: read.owner });
}

/** Creates a new file, and the folders above it. */
export function createSharedFile(path: string, bytes: Uint8Array, mode: number): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw changedMeanwhileError(path);
  mkdirSync(dirname(path), { recursive: true });
  writeFileDurably(path, bytes, { mode });
}

/** Removes temp files that killed writers of this file left beside it. */
export function clearLeftovers(path: string): void {
  const folder = dirname(path);
  for (const name of listNames(folder)) {
    const leftover = join(folder, name);
    const isOfFile = name.startsWith(`.${basename(path)}.`) && isTempName(name);
    if (isOfFile && isAbandonedTemp(leftover)) removeFile(leftover);
  }
}

/** The missing folders above a file, the innermost first. */
export function listMissingFolders(path: string): string[] {
  const missing: string[] = [];
  for (let folder = dirname(path); lstatSync(folder, { throwIfNoEntry: false }) === undefined; ) {
    missing.push(folder);
    folder = dirname(folder);
  }
  return missing;
}

/** Removes a file, and those of the given folders that are empty then. */
export function removeSharedFile(read: SharedFile, folders: readonly string[]): void {
  assertUnchanged(read);
  removeFile(read.path);
  syncFolder(dirname(read.path));
  const refusals = ['ENOTEMPTY', 'EEXIST', 'ENOENT', 'EACCES', 'EPERM', 'ENOTDIR'];
  for (const folder of folders) if (!attempt(() => rmdirSync(folder), ...refusals)) return;
}

function assertUnchanged(read: SharedFile): void {
  const now = readSharedFile(read.path);
  if (now === null || !now.bytes.equals(read.bytes)) throw changedMeanwhileError(read.path);
}

function changedMeanwhileError(path: string): HandoverError {
  const hint = 'Nothing was written to it. Try again.';
  return new HandoverError('HANDOVER_LOCKED', `${path} was changed by another program just now`, { hint });
}

function unsafeFileError(path: string, wrong: string): HandoverError {
  const hint = 'Nothing was changed. Fix it, or move it away, and try again.';
  return new HandoverError('HANDOVER_PATH_UNSAFE', `${path} ${wrong}`, { hint });
}
