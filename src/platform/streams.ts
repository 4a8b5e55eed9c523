import { closeSync, fstatSync, readSync, statSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { catchErrno, HandoverError, hasErrno, notFoundError } from '../errors.ts';
import { notAFileError, openToRead } from './external-file.ts';
import { readTimer, sleep } from './machine.ts';

/** For output before anything else is loaded. */
export function printAtOnce(text: string): void {
  writeSync(1, text);
}

const CHUNK_BYTES = 256 * 1024;

/** Standard input, as it arrives. Chunks stay valid. */
export function readInputChunks(): Generator<Buffer> {
  return readChunks(0);
}

/** The path of an inherited descriptor, such as that of `<(command)` in a shell. It is read as it is, never reopened. */
const DESCRIPTOR = /^\/(?:dev|proc\/self)\/(?:fd\/(\d{1,6})|stdin)$/;

/** How long a named pipe may have no writer. */
const WRITER_MS = 4000;

/** A file named by the user: a regular one, a pipe that somebody writes to, or `/dev/fd/N`. Nothing else is waited for. */
export function* readFileChunks(path: string): Generator<Buffer> {
  const [name, number] = DESCRIPTOR.exec(path) ?? [];
  const fd = name === undefined ? openToRead(path, PASS_A_FILE) : Number(number ?? 0);
  try {
    const stat = catchErrno(['EBADF'], null, () => fstatSync(fd));
    if (stat === null) throw notFoundError(`nothing is open as ${path}`, PASS_A_FILE);
    if (name === undefined && stat.isFIFO()) yield awaitWriter(fd, path);
    else if (name === undefined && !stat.isFile()) throw notAFileError(path, PASS_A_FILE);
    yield* readChunks(fd);
  } finally {
    if (name === undefined) closeSync(fd);
  }
}

const PASS_A_FILE = 'Pass the path of a file, or /dev/stdin for standard input.';

/** The first bytes. A pipe without a writer seems to be at its end. */
function awaitWriter(fd: number, path: string): Buffer {
  const until = readTimer() + WRITER_MS;
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    const read = readOnce(fd, buffer);
    if (read > 0) return buffer.subarray(0, read);
    if (read === 0 && readTimer() > until)
      throw new HandoverError('HANDOVER_PATH_UNSAFE', `nobody writes to the pipe ${path}`, {
        hint: 'Start what writes to it first, or pass its output on: COMMAND | handover … /dev/stdin',
      });
    sleep(5);
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
  /** The size of the terminal; null where it is none, or does not say. */
  size(): { columns: number; rows: number } | null;
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
  const isTty = isTerminal(fd);
  return {
    isTerminal: isTty,
    size: () => (isTty ? readSize(fd === 1 ? process.stdout : process.stderr) : null),
    write: (text) => writeBytes(Buffer.from(text)),
    writeBytes,
  };
}

function readSize({ columns, rows }: NodeJS.WriteStream): { columns: number; rows: number } | null {
  return columns > 0 && rows > 0 ? { columns, rows } : null;
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
  return readWithin(readChunks(fd), maxBytes);
}

/** All of a file that the user named, as `readFileChunks` reads it; null when it is more than `maxBytes`. */
export function readPath(path: string, maxBytes: number): Buffer | null {
  return readWithin(readFileChunks(path), maxBytes);
}

function readWithin(source: Iterable<Buffer>, maxBytes: number): Buffer | null {
  const chunks: Buffer[] = [];
  let size = 0;
  for (const chunk of source) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) return null;
  }
  return Buffer.concat(chunks);
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
