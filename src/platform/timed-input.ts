import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { hasErrno } from '../errors.ts';
import { readTimer, sleep } from './machine.ts';

/**
 * Makes reading a pipe or a socket answer at once, with EAGAIN where there is nothing yet. False where that cannot be done.
 *
 * It takes hold of it by the handle that is inside of `process.stdin`, which Node does not promise to keep: whoever asks must
 * have another way. `process.stdin` itself takes more than half of the time that a hook may take.
 */
export function unblock(fd: number): boolean {
  const bind = getField(process, 'binding');
  if (process.platform === 'win32' || typeof bind !== 'function') return false;
  try {
    const pipes: unknown = Reflect.apply(bind, process, ['pipe_wrap']);
    const Pipe = getField(pipes, 'Pipe');
    if (typeof Pipe !== 'function') return false;
    const pipe: unknown = Reflect.construct(Pipe, [getField(getField(pipes, 'constants'), 'SOCKET')]);
    const open = getField(pipe, 'open');
    return typeof open === 'function' && Reflect.apply(open, pipe, [fd]) === 0;
  } catch (error) {
    // Whatever a later Node does in its place; anything else is a mistake of ours.
    if (error instanceof Error) return false;
    throw error;
  }
}

function getField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

export interface TimedInput {
  /** Whether a text is whole, so that one who never closes the input need not be waited for. */
  isWhole(text: string): boolean;
  maxBytes: number;
  /** The time after which nothing more is waited for. */
  waitMs: number;
}

/** `late`: it was neither whole nor closed in time. `large`: it was longer than allowed. */
export type InputRead = { text: string } | { problem: 'late' | 'large' };

const CHUNK = 64 * 1024;

/**
 * Reads standard input, but never waits for it longer than told. A plain blocking read could not be given up: Node waits
 * for it even when it exits.
 */
export async function readTimedInput(ask: TimedInput): Promise<InputRead> {
  const fd = openWithoutBlocking();
  if (fd === null) return await readEvents(ask);
  try {
    return readByLooking(fd, ask);
  } finally {
    if (fd !== STDIN) closeSync(fd);
  }
}

const STDIN = 0;

/** Opened anew where the system allows it, which it does not for a socket; null where it would block. */
function openWithoutBlocking(): number | null {
  try {
    const stat = fstatSync(STDIN);
    if (process.platform === 'linux' && !stat.isSocket())
      return openSync('/proc/self/fd/0', constants.O_RDONLY | constants.O_NONBLOCK);
    return (stat.isSocket() || stat.isFIFO()) && unblock(STDIN) ? STDIN : null;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENXIO', 'EACCES', 'EPERM', 'EBADF', 'ENOTDIR')) return null;
    throw error;
  }
}

function readByLooking(fd: number, ask: TimedInput): InputRead {
  const kept = new Kept(ask);
  const buffer = Buffer.allocUnsafe(CHUNK);
  const until = readTimer() + ask.waitMs;
  for (let step = 1; ; ) {
    const read = readNow(fd, buffer);
    if (read === 0) return kept.close();
    if (read !== null) {
      kept.add(Buffer.from(buffer.subarray(0, read)));
      step = 1;
    } else if (kept.isWhole()) return kept.close();
    if (readTimer() >= until) return kept.giveUp();
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
  const kept = new Kept(ask);
  const { stdin } = process;
  return await new Promise((resolve) => {
    const finish = (result: InputRead): void => {
      clearTimeout(limit);
      stdin.destroy();
      resolve(result);
    };
    const limit = setTimeout(() => finish(kept.giveUp()), ask.waitMs);
    stdin.on('data', (chunk: Buffer) => {
      kept.add(chunk);
      if (kept.isWhole()) finish(kept.close());
    });
    stdin.on('end', () => finish(kept.close()));
    stdin.on('error', () => finish(kept.close()));
  });
}

/** What was read so far. What is too long is let go, so that its writer can still get rid of it. */
class Kept {
  readonly #ask: TimedInput;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** How much there was when it was last found not to be whole. */
  #checked = 0;

  constructor(ask: TimedInput) {
    this.#ask = ask;
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#ask.maxBytes) this.#chunks = [];
    else this.#chunks.push(chunk);
  }

  isWhole(): boolean {
    if (this.#bytes > this.#ask.maxBytes || this.#bytes === this.#checked) return false;
    this.#checked = this.#bytes;
    return this.#ask.isWhole(this.#text());
  }

  close(): InputRead {
    return this.#bytes > this.#ask.maxBytes ? { problem: 'large' } : { text: this.#text() };
  }

  giveUp(): InputRead {
    return { problem: this.#bytes > this.#ask.maxBytes ? 'large' : 'late' };
  }

  #text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
