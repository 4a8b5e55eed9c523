import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { HandoverError, hasErrno } from '../errors.ts';
import { sleep } from './sleep.ts';

const CHUNK_BYTES = 256 * 1024;

/** What comes on standard input, as it comes. Each chunk is valid for good. */
export function* readInputChunks(): Generator<Buffer> {
  yield* readChunks(0);
}

/** A regular file, or a pipe: who names one wants it read. */
export function* readFileChunks(path: string): Generator<Buffer> {
  const fd = openOrExplain(path);
  try {
    yield* readChunks(fd);
  } finally {
    closeSync(fd);
  }
}

function openOrExplain(path: string): number {
  try {
    const fd = openSync(path, constants.O_RDONLY);
    if (!fstatSync(fd).isDirectory()) return fd;
    closeSync(fd);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT', 'ENOTDIR')) throw error;
    throw new HandoverError('HANDOVER_NOT_FOUND', `there is no ${path}`, {
      hint: 'Give the path of a file, or - for standard input.',
      cause: error,
    });
  }
  throw new HandoverError('HANDOVER_PATH_UNSAFE', `${path} is a folder`, {
    hint: 'Give the path of a file.',
  });
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
