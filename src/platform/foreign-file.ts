import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { hasErrno } from '../errors.ts';
import { OUT_OF_REACH } from './folders.ts';

/** What other programs keep is read as far as it can be had: what is out of reach counts as not being there. */
const NOT_TO_BE_HAD = [...OUT_OF_REACH, 'ENXIO', 'EISDIR'];

export interface FileHead {
  bytes: Buffer;
  /** Of the whole file. */
  size: number;
  changedMs: number;
}

/** The first bytes of a regular file; links are followed, pipes are not waited for. */
export function readHead(path: string, maxBytes: number): FileHead | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (hasErrno(error, ...NOT_TO_BE_HAD)) return null;
    throw error;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return null;
    const buffer = Buffer.allocUnsafe(Math.min(stat.size, maxBytes));
    return { bytes: fill(fd, buffer), size: stat.size, changedMs: Math.trunc(stat.mtimeMs) };
  } finally {
    closeSync(fd);
  }
}

function fill(fd: number, buffer: Buffer): Buffer {
  let filled = 0;
  while (filled < buffer.length) {
    const read = readSync(fd, buffer, filled, buffer.length - filled, filled);
    if (read === 0) break;
    filled += read;
  }
  return buffer.subarray(0, filled);
}

/** The names in a folder, in no order. */
export function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasErrno(error, ...NOT_TO_BE_HAD)) return [];
    throw error;
  }
}
