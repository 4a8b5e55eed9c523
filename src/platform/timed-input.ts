import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { catchErrno, catchError, hasErrno } from '../errors.ts';
import { readTimer, sleep } from './machine.ts';

/** Reads then return EAGAIN; false where impossible. An internal handle: `process.stdin` is too slow for a hook. */
function unblock(fd: number): boolean {
  const bind = getField(process, 'binding');
  if (process.platform === 'win32' || typeof bind !== 'function') return false;
  // A later Node may throw anything here.
  return catchError(Error, false, () => {
    const pipes: unknown = Reflect.apply(bind, process, ['pipe_wrap']);
    const Pipe = getField(pipes, 'Pipe');
    if (typeof Pipe !== 'function') return false;
    const pipe: unknown = Reflect.construct(Pipe, [getField(getField(pipes, 'constants'), 'SOCKET')]);
    const open = getField(pipe, 'open');
    return typeof open === 'function' && Reflect.apply(open, pipe, [fd]) === 0;
  });
}

function getField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

interface TimedInput {
  /** Whether a text is complete, so that an input that is never closed need not be waited for. */
  isWhole(text: string): boolean;
  maxBytes: number;
  waitMs: number;
}

/** `late`: it was neither complete nor closed in time. `large`: it was longer than allowed. */
type InputRead = { text: string } | { problem: 'late' | 'large' };

const CHUNK = 64 * 1024;

/** Reads standard input for at most `waitMs`. A blocking read cannot be abandoned: Node waits for it even at exit. */
export async function readTimedInput(ask: TimedInput): Promise<InputRead> {
  const fd = openWithoutBlocking();
  if (fd === null) return await readEvents(ask);
  try {
    return poll(fd, ask);
  } finally {
    if (fd !== STDIN) closeSync(fd);
  }
}

const STDIN = 0;

/** Reopened where the system allows it, which it does not for a socket; null where reading would block. */
function openWithoutBlocking(): number | null {
  return catchErrno(['ENOENT', 'ENXIO', 'EACCES', 'EPERM', 'EBADF', 'ENOTDIR'], null, () => {
    const stat = fstatSync(STDIN);
    if (process.platform === 'linux' && !stat.isSocket())
      return openSync('/proc/self/fd/0', constants.O_RDONLY | constants.O_NONBLOCK);
    return (stat.isSocket() || stat.isFIFO()) && unblock(STDIN) ? STDIN : null;
  });
}

function poll(fd: number, ask: TimedInput): InputRead {
  const input = bufferInput(ask);
  const buffer = Buffer.allocUnsafe(CHUNK);
  const until = readTimer() + ask.waitMs;
  for (let step = 1; ; ) {
    const read = readNow(fd, buffer);
    if (read === 0) return input.close();
    if (read !== null) {
      input.add(Buffer.from(buffer.subarray(0, read)));
      step = 1;
    } else if (input.isWhole()) return input.close();
    if (readTimer() >= until) return input.giveUp();
    if (read !== null) continue;
    sleep(step);
    step = Math.min(step + 1, 10);
  }
}

/** Null when there is nothing yet. */
function readNow(fd: number, buffer: Buffer): number | null {
  try {
    return readSync(fd, buffer, 0, buffer.length, null);
  } catch (error) {
    if (hasErrno(error, 'EAGAIN')) return null;
    if (hasErrno(error, 'EOF', 'EIO', 'EISDIR')) return 0;
    throw error;
  }
}

async function readEvents(ask: TimedInput): Promise<InputRead> {
  const input = bufferInput(ask);
  const { stdin } = process;
  return await new Promise((resolve) => {
    const finish = (result: InputRead): void => {
      clearTimeout(limit);
      stdin.destroy();
      resolve(result);
    };
    const limit = setTimeout(() => finish(input.giveUp()), ask.waitMs);
    stdin.on('data', (chunk: Buffer) => {
      input.add(chunk);
      if (input.isWhole()) finish(input.close());
    });
    stdin.on('end', () => finish(input.close()));
    stdin.on('error', () => finish(input.close()));
  });
}

/** The input so far. Too long an input is read to its end, so that its writer does not block, and discarded. */
function bufferInput({ isWhole, maxBytes }: TimedInput) {
  let chunks: Buffer[] = [];
  let bytes = 0;
  /** The size at which it was last found incomplete. */
  let checked = 0;
  const readText = (): string => Buffer.concat(chunks).toString('utf8');
  return {
    add: (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > maxBytes) chunks = [];
      else chunks.push(chunk);
    },
    isWhole: () => {
      if (bytes > maxBytes || bytes === checked) return false;
      checked = bytes;
      return isWhole(readText());
    },
    close: (): InputRead => (bytes > maxBytes ? { problem: 'large' } : { text: readText() }),
    giveUp: (): InputRead => ({ problem: bytes > maxBytes ? 'large' : 'late' }),
  };
}
