import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';

/** A program of ours with the code that V8 compiled in earlier runs: in a short run, compiling takes longer than running. */
export interface CachedProgram {
  /** What its entry exports. */
  exports: Exports;
  /** The cache file; null for none. */
  path: string | null;
  /** How much had run when the cache was written, in the caller's own measure; -1 without a usable cache. */
  warmth: number;
  /** Whether a file was loaded that is not in the cache. */
  isIncomplete: boolean;
  /** The content for the cache file, with everything compiled so far. */
  pack(warmth: number): Uint8Array[];
}

type Exports = Readonly<Record<string, unknown>>;

interface CacheContent {
  warmth: number;
  codes: ReadonlyMap<string, Buffer>;
}

/**
 * Has V8 compile patterns at once, and optimise late: what is optimised for the first rows of a transcript is soon thrown away.
 * Call it before a program is opened, always or never for a cache file: V8 refuses code that was cached under other flags.
 */
export function optimizeLater(): void {
  // A later Node may not know a flag, and would complain to the user.
  if (Number.parseInt(process.versions.node, 10) > 24) return;
  process.getBuiltinModule?.('node:v8').setFlagsFromString('--interrupt-budget=1000000 --no-regexp-tier-up');
}

/** Enough for the names of all files. */
const HEADER_BYTES = 8192;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Loads the entry and the files beside it that it requires; Node's own loader would compile them each time. Each file is a
 * function of `exports`, `require` and `__filename`, in ASCII. `build` differs whenever a source does: V8 itself checks
 * only its own version and the length of a source.
 */
export function openCachedProgram(
  entry: string,
  { path, build }: { path: string | null; build: string },
): CachedProgram {
  const cached = path === null ? null : readCacheContent(path, build);
  const folder = dirname(entry);
  const requireOther = createRequire(entry);
  const loaded = new Map<string, Exports>();
  const scripts = new Map<string, Script>();
  const state = { warmth: cached?.warmth ?? -1, isIncomplete: false };

  const requireAny = (id: string): unknown => {
    if (id.startsWith('./') && id.endsWith('.cjs')) return load(basename(id));
    return SLOW.has(id) ? requireLazily(() => requireOther(id)) : requireOther(id);
  };

  function load(name: string): Exports {
    const known = loaded.get(name);
    if (known !== undefined) return known;
    const filename = join(folder, name);
    const cachedData = cached?.codes.get(name);
    const options = cachedData === undefined ? { filename } : { filename, cachedData };
    const script = new Script(readFileSync(filename, 'latin1'), options);
    if (cachedData === undefined) state.isIncomplete = true;
    if (script.cachedDataRejected === true) state.warmth = -1;
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
      return state.warmth;
    },
    get isIncomplete() {
      return state.isIncomplete;
    },
    pack: (warmth) => {
      const codes = new Map<string, Buffer>(state.warmth < 0 ? [] : cached?.codes);
      for (const [name, script] of scripts) codes.set(name, script.createCachedData());
      return packCache(`${build} ${warmth}`, codes);
    },
  };
}

/** Modules of Node that take milliseconds to load and are seldom called: loaded at the first use. */
const SLOW: ReadonlySet<string> = new Set(['node:crypto', 'node:child_process', 'node:v8', 'node:zlib']);

function requireLazily(load: () => object): object {
  let loaded: object | undefined;
  const get = (_: object, name: string | symbol): unknown => {
    loaded ??= load();
    return Reflect.get(loaded, name);
  };
  return new Proxy({}, { get });
}

/** V8 trusts cached code, so it is stored twice, against damage: comparing halves is faster than any checksum. */
function packCache(title: string, codes: ReadonlyMap<string, Buffer>): Uint8Array[] {
  const lines = [title, ...Array.from(codes, ([name, code]) => `${name} ${code.length}`), ''];
  const half = [Buffer.from(lines.join('\n').padEnd(HEADER_BYTES)), ...codes.values()];
  return [...half, ...half];
}

function readCacheContent(path: string, build: string): CacheContent | null {
  const bytes = readOwnFile(path);
  const half = (bytes?.length ?? 0) / 2;
  if (bytes === null || half < HEADER_BYTES) return null;
  return bytes.subarray(0, half).equals(bytes.subarray(half)) ? unpackCache(bytes.subarray(0, half), build) : null;
}

function unpackCache(bytes: Buffer, build: string): CacheContent | null {
  const lines = bytes.toString('latin1', 0, HEADER_BYTES).trimEnd().split('\n');
  const [[madeBy = '', warmth = ''] = [], ...files] = lines.map((line) => line.split(' '));
  const codes = new Map<string, Buffer>();
  let from = HEADER_BYTES;
  for (const [name = '', length = ''] of files) {
    codes.set(name, bytes.subarray(from, from + Number(length)));
    from += Number(length);
  }
  return madeBy === build && from === bytes.length ? { warmth: Number(warmth), codes } : null;
}

/** Null for anything but a file that only this user can write: its content is executed. */
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
    // Not from the pool: V8 copies code that is not word-aligned.
    const bytes = Buffer.allocUnsafeSlow(size);
    return readSync(fd, bytes, 0, size, 0) === size ? bytes : null;
  } finally {
    closeSync(fd);
  }
}
