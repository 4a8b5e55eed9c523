import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';

/**
 * A program of ours with what V8 made of it when it ran before: for a program that runs once and is over, compiling takes
 * longer than running.
 */
export interface KeptProgram {
  /** What it exports. */
  exports: Readonly<Record<string, unknown>>;
  /** Where to keep it. */
  path: string;
  /** How much had run when it was kept, in the caller's own measure; -1 when nothing is kept that can be used. */
  worth: number;
  /** What to write there: by now, so with all that was compiled since. */
  pack(worth: number): Uint8Array[];
}

const [HEAD, TAIL] = ['(function (exports, require) {', '\n})'];
const MAGIC = 0x31_65_64_6f;
const HEADER_WORDS = 4;
const HEADER_BYTES = 4 * HEADER_WORDS;
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * V8 takes what is kept on trust, but for its own version and the length of the source. So the source is kept with it and
 * compared, and the code is kept twice: rot, or a write that came to no end, would have to hit both alike.
 */
export function openKeptProgram(file: string, path: string): KeptProgram {
  const source = readFileSync(file);
  const kept = readKept(path, source);
  const script = new Script(`${HEAD}${source.toString('utf8')}${TAIL}`, {
    filename: file,
    ...(kept === null ? {} : { cachedData: kept.code }),
  });
  const isUsed = kept !== null && script.cachedDataRejected !== true;
  const exports: Record<string, unknown> = {};
  const run: unknown = script.runInThisContext();
  if (typeof run === 'function') Reflect.apply(run, undefined, [exports, createRequire(file)]);
  return {
    exports,
    path,
    worth: isUsed ? kept.worth : -1,
    pack: (worth) => {
      const code = script.createCachedData();
      const header = Uint32Array.of(MAGIC, worth, source.length, code.length);
      return [new Uint8Array(header.buffer), source, code, code];
    },
  };
}

function readKept(path: string, source: Buffer): { worth: number; code: Buffer } | null {
  const bytes = readOwnFile(path);
  if (bytes === null || bytes.length < HEADER_BYTES) return null;
  const [magic, worth = 0, sourceBytes = 0, codeBytes = 0] = new Uint32Array(
    bytes.buffer,
    bytes.byteOffset,
    HEADER_WORDS,
  );
  const from = HEADER_BYTES + sourceBytes;
  if (magic !== MAGIC || bytes.length !== from + 2 * codeBytes) return null;
  const code = bytes.subarray(from, from + codeBytes);
  const isWhole =
    bytes.subarray(HEADER_BYTES, from).equals(source) && code.equals(bytes.subarray(from + codeBytes));
  return isWhole ? { worth, code } : null;
}

/** It is run, so nobody else may have written it. Null for anything but a file of this user. */
function readOwnFile(path: string): Buffer | null {
  let fd: number;
  try {
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
  try {
    const { uid, mode, size } = fstatSync(fd);
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    const isFile = (mode & constants.S_IFMT) === constants.S_IFREG;
    if (!isOwn || !isFile || size > MAX_BYTES) return null;
    // Not from the pool: what is in it is looked at as words, too.
    const bytes = Buffer.allocUnsafeSlow(size);
    return readSync(fd, bytes, 0, size, 0) === size ? bytes : null;
  } finally {
    closeSync(fd);
  }
}
