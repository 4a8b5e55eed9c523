import { type BigIntStats, closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { catchErrno, catchError, HandoverError, hasErrno, notFoundError } from '../errors.ts';
import { OUT_OF_REACH } from './folders.ts';

/* Files of other programs. What cannot be read counts as missing. */

const UNREADABLE = [...OUT_OF_REACH, 'ENXIO', 'EISDIR'];

export interface FileHead {
  bytes: Buffer;
  /** Of the whole file. */
  size: number;
  changedMs: number;
}

/** The first bytes of a regular file; links are followed, pipes are not waited for. */
export function readHead(path: string, maxBytes: number): FileHead | null {
  return withFile(path, (fd, { size, mtimeMs }) => ({
    bytes: fill(fd, Buffer.allocUnsafe(Math.min(Number(size), maxBytes)), 0),
    size: Number(size),
    changedMs: Number(mtimeMs),
  }));
}

export interface FileStat {
  /** Differs when another file is put in its place. */
  identity: string;
  size: number;
  changedMs: number;
}

/** Null where there is no regular file. */
export function statFile(path: string): FileStat | null {
  // Without throwing for missing files: most files that a hook looks for are missing.
  const stat = catchErrno(UNREADABLE, null, () => statSync(path, { bigint: true, throwIfNoEntry: false }));
  if (!stat?.isFile()) return null;
  const { dev, ino, size, mtimeMs } = stat;
  return { identity: `${dev}:${ino}`, size: Number(size), changedMs: Number(mtimeMs) };
}

const END_BYTES = 64 * 1024;

/** The first and last 64 KB of the first `length` bytes of a file: all of them if they are no more. */
export function readEnds(path: string, length: number): Buffer | null {
  return withFile(path, (fd) => {
    if (length <= 2 * END_BYTES) return fill(fd, Buffer.allocUnsafe(length), 0);
    const first = fill(fd, Buffer.allocUnsafe(END_BYTES), 0);
    return Buffer.concat([first, fill(fd, Buffer.allocUnsafe(END_BYTES), length - END_BYTES)]);
  });
}

/** The last bytes of a regular file as text; the first character may be cut. */
export function readTail(path: string, maxBytes: number): string | null {
  return withFile(path, (fd, { size }) => {
    const length = Math.min(Number(size), maxBytes);
    return fill(fd, Buffer.allocUnsafe(length), Number(size) - length).toString('utf8');
  });
}

function withFile<T>(path: string, work: (fd: number, stat: BigIntStats) => T): T | null {
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const fd = catchErrno(UNREADABLE, null, () => openSync(path, flags));
  if (fd === null) return null;
  try {
    const stat = fstatSync(fd, { bigint: true });
    return stat.isFile() ? work(fd, stat) : null;
  } finally {
    closeSync(fd);
  }
}

function fill(fd: number, buffer: Buffer, from: number): Buffer {
  let filled = 0;
  while (filled < buffer.length) {
    const read = readSync(fd, buffer, filled, buffer.length - filled, from + filled);
    if (read === 0) break;
    filled += read;
  }
  return buffer.subarray(0, filled);
}

/** Opens a file that somebody named: links are followed, pipes are not waited for. */
export function openToRead(path: string, hint: string): number {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    if (hasErrno(cause, 'ENXIO', 'EOPNOTSUPP')) throw notAFileError(path, hint);
    if (!hasErrno(cause, 'ENOENT', 'ENOTDIR')) throw cause;
    throw notFoundError(`there is no file ${path}`, hint);
  }
}

export function notAFileError(path: string, hint: string): HandoverError {
  return new HandoverError('HANDOVER_PATH_UNSAFE', `${path} is not a regular file`, { hint });
}

/** The names in a folder, in no order. */
export function listNames(folder: string): string[] {
  return catchErrno(UNREADABLE, [], () => readdirSync(folder));
}

/** The content of a zstd file; null when this Node cannot decompress it or the bytes are damaged. */
export function decompressZstd(bytes: Buffer, maxBytes: number): Buffer | null {
  // Loaded here: most commands and every hook load this file, and nothing else of theirs needs zlib.
  const zlib = process.getBuiltinModule?.('node:zlib') ?? {};
  const decompress: unknown = Reflect.get(zlib, 'zstdDecompressSync');
  if (typeof decompress !== 'function') return null;
  const unpack = (): unknown => decompress(bytes, { maxOutputLength: maxBytes });
  const content = catchError(Error, null, unpack);
  return Buffer.isBuffer(content) ? content : null;
}
