import { constants, fchmodSync, lstatSync, openSync, renameSync, rmSync, type Stats, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { attempt } from '../errors.ts';
import {
  discardOnFailure,
  isAbandonedTemp,
  isTempName,
  makeQuickTempPath,
  makeTempPath,
  removeFile,
  useFile,
} from './durable-file.ts';
import { listFolder } from './folders.ts';

/** Encoded data can be read by this version of Node only. */
export const RUNTIME: string = process.version;

/** Objects, lists, maps and sets as bytes, with shared references preserved. For caches only: other versions may differ. */
export function encodePlainData(data: unknown): Buffer {
  return serialize(data);
}

/** Only for bytes known to come from `encodePlainData`: others may crash the program. */
export function decodePlainData(bytes: Uint8Array): unknown {
  return deserialize(bytes);
}

const PRIVATE_FILE = 0o600;

/** Replaces a cache file atomically but without fsync: after a power cut it may hold anything, so readers must check. */
export function writeCacheFile(path: string, parts: readonly Uint8Array[]): void {
  replace(path, parts, makeTempPath(path));
}

/** The same for a small file, faster: a temp file left by a kill counts as abandoned only after an hour. */
export function writeSmallCacheFile(path: string, text: string): void {
  replace(path, [Buffer.from(text)], makeQuickTempPath(path));
}

function replace(path: string, parts: readonly Uint8Array[], temp: string): void {
  discardOnFailure(temp, () => {
    writeParts(temp, parts);
    renameSync(temp, path);
  });
}

function writeParts(path: string, parts: readonly Uint8Array[]): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  useFile(openSync(path, flags, PRIVATE_FILE), (fd) => {
    fchmodSync(fd, PRIVATE_FILE);
    for (const part of parts) {
      for (let done = 0; done < part.length; ) done += writeSync(fd, part, done);
    }
  });
}

export function removeCacheFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** Removes the files that were not written for the longest time until the limits hold. `isKept` exempts a name. */
export function trimCacheFolder(
  folder: string,
  limits: { files: number; bytes: number },
  isKept: (name: string) => boolean = () => false,
): void {
  // Another process may be writing a temp file.
  const isCounted = (path: string, stat: Stats): boolean =>
    stat.isFile() && !isKept(basename(path)) && (!isTempName(basename(path)) || isAbandonedTemp(path));
  let bytes = 0;
  for (const [index, { path, stat }] of listByAge(folder, isCounted).entries()) {
    bytes += stat.size;
    if (index >= limits.files || bytes > limits.bytes) removeFile(path);
  }
}

/** Removes the folders in which nothing was written for the longest time until no more than `most` are left. */
export function trimSubfolders(folder: string, most: number): void {
  const folders = listByAge(folder, (_, stat) => stat.isDirectory());
  for (const { path } of folders.slice(most)) rmSync(path, { recursive: true, force: true });
}

/** The newest first, without what another process has removed meanwhile. */
function listByAge(folder: string, isCounted: (path: string, stat: Stats) => boolean): { path: string; stat: Stats }[] {
  return listFolder(folder)
    .flatMap((name) => {
      const path = join(folder, name);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      return stat !== undefined && isCounted(path, stat) ? [{ path, stat }] : [];
    })
    .sort((a, b) => b.stat.mtimeMs - a.stat.mtimeMs || (a.path < b.path ? -1 : 1));
}

/** Creates a small file; false when it exists. Nothing is flushed. */
export function createCacheFile(path: string, text: string): boolean {
  return attempt(() => writeParts(path, [Buffer.from(text)]), 'EEXIST');
}

/** Appends one line in one write. Nothing is flushed. */
export function appendPrivateLine(path: string, line: string): void {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  useFile(openSync(path, flags, PRIVATE_FILE), (fd) => writeSync(fd, `${line}\n`));
}

/** Moves a file over another one. Nothing is flushed. */
export function moveFile(from: string, to: string): void {
  renameSync(from, to);
}
