import { closeSync, constants, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { catchErrno, HandoverError, hasErrno } from '../errors.ts';
import { sleep } from './machine.ts';

/** For output before anything else is loaded. */
export function printAtOnce(text: string): void {
  writeSync(1, text);
}

const CHUNK_BYTES = 256 * 1024;

/** Standard input, as it arrives. Chunks stay valid. */
export function readInputChunks(): Generator<Buffer> {
  return readChunks(0);
}

/** A regular file or a pipe. */
export function* readFileChunks(path: string): Generator<Buffer> {
  const fd = openOrExplain(path);
  try {
    if (fstatSync(fd).isDirectory()) {
      const hint = 'Pass the path of a file.';
      throw new HandoverError('HANDOVER_PATH_UNSAFE', `${path} is a folder`, { hint });
    }
    yield* readChunks(fd);
  } finally {
    closeSync(fd);
  }
}

function openOrExplain(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY);
  } catch (cause) {
    if (!hasErrno(cause, 'ENOENT', 'ENOTDIR')) throw cause;
    const hint = 'Pass the path of a file, or - for standard input.';
    throw new HandoverError('HANDOVER_NOT_FOUND', `there is no file ${path}`, { hint, cause });
  }
}

function* readChunks(fd: number): Generator<Buffer> {
  for (;;) {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    const read = readOnce(fd, buffer);
    if (read === 0) return;
    if (read > 0) yield buffer.subarray(0, read);
  }
}

/** -1 when nothing is there yet. */
function readOnce(fd: number, buffer: Buffer): number {
  try {
    return readSync(fd, buffer);
  } catch (error) {
    if (hasErrno(error, 'EOF')) return 0;
    if (!hasErrno(error, 'EAGAIN')) throw error;
    sleep(5);
    return -1;
  }
}

/** Standard output or standard error, written synchronously: nothing is pending when the process ends. */
export interface TextSink {
  readonly isTerminal: boolean;
  /** False when the reader is gone. */
  write(text: string): boolean;
  writeBytes(bytes: Uint8Array): boolean;
}

export function openSink(fd: 1 | 2): TextSink {
  let closed = false;
  const writeBytes = (bytes: Uint8Array): boolean => {
    closed ||= !writeAll(fd, bytes);
    return !closed;
  };
  return { isTerminal: isTerminal(fd), write: (text) => writeBytes(Buffer.from(text)), writeBytes };
}

/** Waits for a slow reader; false when the reader is gone. */
function writeAll(fd: number, bytes: Uint8Array): boolean {
  let offset = 0;
  while (offset < bytes.length) {
    try {
      offset += writeSync(fd, bytes, offset);
    } catch (error) {
      if (hasErrno(error, 'EPIPE')) return false;
      if (!hasErrno(error, 'EAGAIN')) throw error;
      sleep(2);
    }
  }
  return true;
}

/** All of standard input; null when it is more than `maxBytes`. */
export function readInput(maxBytes: number): string | null {
  return readDescriptor(0, maxBytes)?.toString('utf8') ?? null;
}

/** Everything that can be read from a descriptor; null when it is more than `maxBytes`. */
export function readDescriptor(fd: number, maxBytes: number): Buffer | null {
  const chunks: Buffer[] = [];
  let size = 0;
  for (const chunk of readChunks(fd)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) return null;
  }
  return Buffer.concat(chunks);
}

/** All of a file, which may be a pipe; null when it is more than `maxBytes`. */
export function readPath(path: string, maxBytes: number): Buffer | null {
  const fd = openSync(path, 'r');
  try {
    return readDescriptor(fd, maxBytes);
  } finally {
    closeSync(fd);
  }
}

export function isInputTerminal(): boolean {
  return isTerminal(0);
}

/** `node:tty` loads all of streams and sockets, so it is asked only about character devices. */
function isTerminal(fd: number): boolean {
  // Services and schedulers may start a program without standard streams.
  const stat = catchErrno(['EBADF', 'ENOENT'], null, () => fstatSync(fd));
  if (stat === null || !stat.isCharacterDevice()) return false;
  if (stat.rdev === catchErrno(['EBADF', 'ENOENT'], null, () => statSync('/dev/null'))?.rdev) return false;
  const tty: typeof import('node:tty') = createRequire(import.meta.url)('node:tty');
  return tty.isatty(fd);
}
