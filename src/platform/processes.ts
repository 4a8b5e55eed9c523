import { type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import * as os from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { attempt, catchErrno, HandoverError, hasErrno } from '../errors.ts';
import { readHead } from './external-file.ts';
import { isFolder, OUT_OF_REACH, resolveRealPath } from './folders.ts';
import { listMarked } from './listeners.ts';
import type { Env, Machine } from './machine.ts';

export interface ProgramOptions {
  cwd: string;
  /** The whole environment of the program: nothing is added to it. */
  env: Env;
  timeoutMs: number;
  maxBytes: number;
  /** What the program reads on its standard input; empty by default. */
  input?: string | Uint8Array;
}

export interface ProgramResult {
  /** Null when a signal ended the program, as happens when it writes far more than `maxBytes`. */
  status: number | null;
  /** At most `maxBytes`. */
  stdout: Buffer;
  /** The first 4 KB. */
  stderr: string;
  /** Whether `stdout` is incomplete, or the program was killed for writing too much. */
  truncated: boolean;
}

const MAX_STDERR_BYTES = 4096;
/** A program that writes slightly more than `maxBytes` may finish, so that its status is known. */
const MIN_BUFFER_BYTES = 64 * 1024;

/**
 * Runs a program to its end, never through a shell. A bare name is looked up in the absolute folders of `env.PATH`
 * only: a relative one would be taken from `cwd`, which may be an untrusted repository.
 */
export function runProgram(file: string, args: readonly string[], options: ProgramOptions): ProgramResult {
  const { cwd, env, timeoutMs, maxBytes, input } = options;
  const result = spawnSync(findProgram(file, env), args, {
    cwd,
    env: { ...env },
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: Math.max(maxBytes, MIN_BUFFER_BYTES),
    shell: false,
    windowsHide: true,
    encoding: 'buffer',
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    // A string would be read in the encoding of the output, 'buffer'.
    ...(input === undefined ? {} : { input: Buffer.from(input) }),
  });
  const { error } = result;
  const overflowed = hasErrno(error, 'ENOBUFS');
  // A program may end well without reading its input.
  const leftInputUnread = hasErrno(error, 'EPIPE') && result.status !== null;
  if (error !== undefined && !overflowed && !leftInputUnread) {
    if (!hasErrno(error, 'ETIMEDOUT')) throw programStartError(error, file, cwd);
    const message = `${file} did not finish within ${timeoutMs} ms in ${cwd}`;
    throw new HandoverError('HANDOVER_PROGRAM_TIMEOUT', message, {
      hint: 'Try again; if it happens again, run the same program there by hand and see what it is waiting for.',
      cause: error,
    });
  }
  return {
    status: result.status,
    stdout: result.stdout.subarray(0, maxBytes),
    stderr: result.stderr.subarray(0, MAX_STDERR_BYTES).toString('utf8'),
    truncated: overflowed || result.stdout.length > maxBytes,
  };
}

function programStartError(cause: Error, file: string, cwd: string): HandoverError {
  if (!isFolder(cwd))
    return new HandoverError('HANDOVER_PROJECT_MISSING', `${cwd} is not a folder that can be reached`, {
      hint: 'Check the path, and that the folder was not moved or deleted.',
      cause,
    });
  if (hasErrno(cause, 'ENOENT')) return programMissingError(file, cause);
  if (hasErrno(cause, 'EACCES', 'EPERM'))
    return new HandoverError('HANDOVER_PERMISSION', `${file} may not be run in ${cwd}`, {
      hint: 'Check the permissions of the folder and of the program.',
      cause,
    });
  if (hasErrno(cause, 'EMFILE', 'ENFILE')) {
    const message = `${file} could not be started: too many open files`;
    return new HandoverError('HANDOVER_TOO_MANY_OPEN_FILES', message, {
      hint: 'Close other programs or raise the limit (ulimit -n), then try again.',
      cause,
    });
  }
  return new HandoverError('HANDOVER_IO', `${file} could not be run in ${cwd}`, { cause });
}

function programMissingError(file: string, cause?: unknown): HandoverError {
  return new HandoverError('HANDOVER_PROGRAM_MISSING', `${file} was not found, or cannot be run`, {
    hint: `Install ${file}, or add the folder it is in to PATH.`,
    cause,
  });
}

/** The path of a program; throws HANDOVER_PROGRAM_MISSING when none can be run. */
function findProgram(file: string, env: Env): string {
  const isWindows = process.platform === 'win32';
  const variable = isWindows ? Object.keys(env).find((key) => key.toUpperCase() === 'PATH') : 'PATH';
  const folders = (env[variable ?? ''] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const candidates = isAbsolute(file) ? [file] : folders.map((folder) => join(folder, file));
  // Windows can start nothing but these without a shell.
  const endings = isWindows ? ['.exe', '.com', ''] : [''];
  const found = candidates
    .flatMap((path) => endings.map((ending) => `${path}${ending}`))
    .find((path) => isExecutable(path));
  if (found === undefined) throw programMissingError(file);
  return found;
}

/** Where a program is on PATH, without starting it; null if nowhere. */
export function findOnPath(name: string, { env, platform }: Machine): string | null {
  const endings = platform === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = folders.flatMap((folder) => endings.map((ending) => join(folder, `${name}${ending}`)));
  return candidates.find((path) => isExecutable(path)) ?? null;
}

function isExecutable(path: string): boolean {
  return catchErrno(OUT_OF_REACH, false, () => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  });
}

/**
 * Runs a program like `runProgram`, in a process group of its own: where it takes too long or writes too much, all of the group
 * ends, and on Linux all that it started in sessions of their own. `mark`: a variable by which these are known, and its value.
 */
export async function runInGroup(
  file: string,
  args: readonly string[],
  { cwd, env, timeoutMs, maxBytes, mark }: Omit<ProgramOptions, 'input'> & { mark: readonly [string, string] },
): Promise<Pick<ProgramResult, 'status' | 'stdout'> | 'timed out' | 'wrote too much'> {
  const hasGroups = process.platform !== 'win32';
  const stdio: StdioOptions = ['ignore', 'pipe', 'ignore'];
  const marked = { ...env, [mark[0]]: mark[1] };
  const options = { cwd, env: marked, stdio, shell: false, windowsHide: true, detached: hasGroups };
  const child = spawn(findProgram(file, env), args, options);
  const kill = (pid: number): unknown => attempt(() => process.kill(pid, 'SIGKILL'), 'ESRCH', 'EPERM');
  const end = (): void => {
    const { pid } = child;
    if (pid !== undefined) kill(hasGroups ? -pid : pid);
    // One may have started another while they were listed.
    for (let pass = 0, left = listMarked(...mark); left.length > 0 && pass < MAX_PASSES; pass++) {
      left.forEach(kill);
      left = listMarked(...mark);
    }
  };
  const parts: Buffer[] = [];
  let bytes = 0;
  let stopped: 'timed out' | 'wrote too much' | null = null;
  child.stdout?.on('data', (part: Buffer) => {
    bytes += part.length;
    if (bytes <= maxBytes) parts.push(part);
    else {
      stopped ??= 'wrote too much';
      end();
    }
  });
  const timer = setTimeout(() => {
    stopped ??= 'timed out';
    end();
  }, timeoutMs);
  // The group is not in the foreground: what ends this process must end it, too.
  const pass = (signal: NodeJS.Signals): void => {
    end();
    process.kill(process.pid, signal);
  };
  for (const signal of ENDING) process.once(signal, pass);
  try {
    const status = await new Promise<number | null>((resolve, reject) => {
      child.once('error', (error) => reject(programStartError(error, file, cwd)));
      child.once('close', resolve);
      // What it left running in a session of its own may hold the pipe for as long as it likes.
      child.once('exit', (code) => setTimeout(() => resolve(code), DRAIN_MS).unref());
    });
    child.stdout?.destroy();
    return status === null && stopped !== null ? stopped : { status, stdout: Buffer.concat(parts) };
  } finally {
    clearTimeout(timer);
    for (const signal of ENDING) process.off(signal, pass);
  }
}

const DRAIN_MS = 1000;
const MAX_PASSES = 5;

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Signals for this process that are meant for the program in the foreground. */
const FORWARDED = ['SIGTERM', 'SIGHUP'] as const;

/** Never through a shell; returns the status as a shell would. Ctrl-C is left to the program. Adds nothing to `env`. `input` takes the place of the terminal's. */
export async function runInForeground(
  file: string,
  args: readonly string[],
  { cwd, env, input }: { cwd: string; env: Env; input?: string },
): Promise<number> {
  const stdin = input === undefined ? 'inherit' : 'pipe';
  const stdio: StdioOptions = [stdin, 'inherit', 'inherit'];
  const child = spawn(findProgram(file, env), args, { cwd, env: { ...env }, stdio, shell: false });
  // A pager is often left before all was read.
  child.stdin?.on('error', () => child.stdin?.destroy()).end(input);
  const ignore = (): undefined => undefined;
  const forward = (signal: NodeJS.Signals): boolean => child.kill(signal);
  process.on('SIGINT', ignore);
  for (const signal of FORWARDED) process.on(signal, forward);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', (error) => reject(programStartError(error, file, cwd)));
      child.once('exit', (status, signal) => resolve(status ?? 128 + os.constants.signals[signal ?? 'SIGKILL']));
    });
  } finally {
    process.off('SIGINT', ignore);
    for (const signal of FORWARDED) process.off(signal, forward);
  }
}

/** Lets every other process go first from now on. */
export function lowerPriority(): void {
  os.setPriority(os.constants.priority.PRIORITY_LOW);
}

/** The full path of the Node that runs this. */
export function findNode(): string {
  return process.execPath;
}

/** The folder of this package: `dist` and `src` are equally deep in it. */
export function findPackageFolder(): string {
  return fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');
}

const MANIFEST_BYTES = 256 * 1024;
const LEVELS = 4;

/** The version in the package.json of the npm package that a program belongs to; null when there is none. */
export function readProgramVersion(program: string): string | null {
  let folder = dirname(resolveRealPath(program) ?? program);
  for (let level = 0; level < LEVELS; level++) {
    const manifest = readHead(join(folder, 'package.json'), MANIFEST_BYTES)?.bytes.toString('utf8');
    if (manifest !== undefined) return /"version"\s*:\s*"([\w.+-]{1,64})"/.exec(manifest)?.[1] ?? null;
    folder = dirname(folder);
  }
  return null;
}

/** Programs that show a file in whatever the user has chosen for it. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = { darwin: ['open'], win32: ['explorer'] };
const OTHER_OPENERS = ['xdg-open', 'wslview'];

/** What cannot show a file says so at once; what can may stay for as long as it is shown. */
const MAX_OPENER_MS = 3000;

/** Shows a file in the user's browser, and returns the name of what does; null where nothing can. */
export async function openFile(path: string, machine: Machine): Promise<string | null> {
  for (const name of OPENERS[machine.platform] ?? OTHER_OPENERS) {
    const program = findOnPath(name, machine);
    if (program !== null && (await startOpener(program, path, machine))) return name;
  }
  return null;
}

/** Explorer ends with 1 when all is well. */
async function startOpener(program: string, path: string, { env, platform }: Machine): Promise<boolean> {
  const child = spawn(program, [path], { env: { ...env }, detached: true, stdio: 'ignore' });
  const isShown = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(true), MAX_OPENER_MS);
    const end = (result: boolean): void => {
      clearTimeout(timer);
      resolve(result);
    };
    child.once('error', () => end(false));
    child.once('exit', (status) => end(status === 0 || platform === 'win32'));
  });
  child.unref();
  return isShown;
}
