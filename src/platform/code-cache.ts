import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';

/**
 * A program of ours with what V8 made of it when it ran before: for a program that runs once and is over, compiling takes
 * longer than running.
 */
export interface CachedProgram {
  /** What its entry exports. */
  exports: Exports;
  /** Where to keep it; null for nowhere. */
  path: string | null;
  /** How much had run when it was kept, in the caller's own measure; -1 when nothing is kept that can be used. */
  warmth: number;
  /** Whether a file was loaded that is not kept. */
  isIncomplete: boolean;
  /** What to write there: by now, so with all that was loaded and compiled since. */
  pack(worth: number): Uint8Array[];
}

export interface CodeCache {
  path: string | null;
  /** Differs whenever a source does. V8 itself looks at its own version and at the length of a source. */
  build: string;
}

type Exports = Readonly<Record<string, unknown>>;

interface CacheContent {
  warmth: number;
  codes: ReadonlyMap<string, Buffer>;
}

/** Room for the names of all files that there are. */
const HEADER_BYTES = 8192;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The entry, and the files beside it that it requires: the loader of Node would compile them each time. Each is a function of
 * `exports`, `require` and `__filename`, in ASCII.
 */
export function openCachedProgram(entry: string, { path, build }: CodeCache): CachedProgram {
  const kept = path === null ? null : readCacheContent(path, build);
  const folder = dirname(entry);
  const requireOther = createRequire(entry);
  const loaded = new Map<string, Exports>();
  const scripts = new Map<string, Script>();
  const state = { worth: kept?.warmth ?? -1, lacks: false };

  const requireAny = (id: string): unknown => {
    if (isBeside(id)) return load(basename(id));
    return SLOW.has(id) ? requireLater(() => requireOther(id)) : requireOther(id);
  };

  function load(name: string): Exports {
    const known = loaded.get(name);
    if (known !== undefined) return known;
    const filename = join(folder, name);
    const cachedData = kept?.codes.get(name);
    const script = new Script(readFileSync(filename, 'latin1'), {
      filename,
      ...(cachedData === undefined ? {} : { cachedData }),
    });
    if (cachedData === undefined) state.lacks = true;
    if (script.cachedDataRejected === true) state.worth = -1;
    const exports: Record<string, unknown> = {};
    loaded.set(name, exports);
    scripts.set(name, script);
    const run: unknown = script.runInThisContext();
    if (typeof run === 'function') Reflect.apply(run, undefined, [exports, requireAny, filename]);
    return exports;
  }

  const exports = load(basename(entry));
  return {
    exports,
    path,
    get warmth() {
      return state.worth;
    },
    get isIncomplete() {
      return state.lacks;
    },
    pack: (worth) => {
      const codes = new Map<string, Buffer>(state.worth < 0 ? [] : kept?.codes);
      for (const [name, script] of scripts) codes.set(name, script.createCachedData());
      return packCache(`${build} ${worth}`, codes);
    },
  };
}

/** Modules of Node that take milliseconds to load: files name them at their top, and few of their functions are called. */
const SLOW: ReadonlySet<string> = new Set(['node:crypto', 'node:child_process']);

function requireLater(load: () => object): object {
  let loaded: object | undefined;
  return new Proxy(
    {},
    {
      get: (_, name) => {
        loaded ??= load();
        return Reflect.get(loaded, name);
      },
    },
  );
}

function isBeside(id: string): boolean {
  return id.startsWith('./') && id.endsWith('.cjs');
}

/**
 * V8 takes code on trust. So all of it is there twice, and rot, or a write that came to no end, would have to hit both alike:
 * comparing is faster than any sum.
 */
function packCache(title: string, codes: ReadonlyMap<string, Buffer>): Uint8Array[] {
  const lines = [title, ...Array.from(codes, ([name, code]) => `${name} ${code.length}`), ''];
  const half = [Buffer.from(lines.join('\n').padEnd(HEADER_BYTES)), ...codes.values()];
  return [...half, ...half];
}

function readCacheContent(path: string, build: string): CacheContent | null {
  const bytes = readOwnFile(path);
  const half = (bytes?.length ?? 0) / 2;
  if (bytes === null || half < HEADER_BYTES) return null;
  return bytes.subarray(0, half).equals(bytes.subarray(half))
    ? unpackCache(bytes.subarray(0, half), build)
    : null;
}

function unpackCache(bytes: Buffer, build: string): CacheContent | null {
  const lines = bytes.toString('latin1', 0, HEADER_BYTES).trimEnd().split('\n');
  const [[madeBy = '', worth = ''] = [], ...files] = lines.map((line) => line.split(' '));
  const codes = new Map<string, Buffer>();
  let from = HEADER_BYTES;
  for (const [name = '', length = ''] of files) {
    codes.set(name, bytes.subarray(from, from + Number(length)));
    from += Number(length);
  }
  return madeBy === build && from === bytes.length ? { warmth: Number(worth), codes } : null;
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
    // Not from the pool: V8 copies code that does not lie on a boundary of words.
    const bytes = Buffer.allocUnsafeSlow(size);
    return readSync(fd, bytes, 0, size, 0) === size ? bytes : null;
  } finally {
    closeSync(fd);
  }
}
