import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HandoverError, hasErrno } from '../errors.ts';
import { readHead } from './external-file.ts';
import { isFolder, OUT_OF_REACH, resolveRealPath } from './folders.ts';
import type { Env, Machine } from './machine.ts';

export interface ProgramOptions {
  cwd: string;
  /** The whole environment of the program: nothing is added to it. */
  env: Env;
  timeoutMs: number;
  maxBytes: number;
  /** What the program reads on its standard input; without it, that is empty. */
  input?: string | Uint8Array;
}

export interface ProgramResult {
  /** Null when the program was ended by a signal, as it is when it writes far more than `maxBytes`. */
  status: number | null;
  /** At most `maxBytes`. */
  stdout: Buffer;
  /** The first 4 KB. */
  stderr: string;
  /** Whether the program wrote more than was kept of `stdout`, or was ended for writing too much. */
  truncated: boolean;
}

const MAX_STDERR_BYTES = 4096;
/** A program that writes a little more than asked for may finish, so that its status is known. */
const LEAST_BUFFER = 64 * 1024;

/**
 * Runs a program to its end, never through a shell. A bare name is looked up in the absolute folders of `env.PATH`
 * only: a relative one would be taken from `cwd`, which may be a repository that nobody has looked at yet.
 */
export function runProgram(file: string, args: readonly string[], options: ProgramOptions): ProgramResult {
  const { cwd, env, timeoutMs, maxBytes, input } = options;
  const program = findProgram(file, env);
  const result = spawnSync(program, args, {
    cwd,
    env: { ...env },
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: Math.max(maxBytes, LEAST_BUFFER),
    shell: false,
    windowsHide: true,
    encoding: 'buffer',
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    // A string would be taken in the encoding of the output, which is none.
    ...(input === undefined ? {} : { input: Buffer.from(input) }),
  });
  const overflowed = hasErrno(result.error, 'ENOBUFS');
  if (result.error !== undefined && !overflowed && !leftInputUnread(result)) {
    if (hasErrno(result.error, 'ETIMEDOUT')) throw programTimeoutError(result.error, file, options);
    throw explainStartFailure(result.error, file, cwd);
  }
  return {
    status: result.status,
    stdout: result.stdout.subarray(0, maxBytes),
    stderr: result.stderr.subarray(0, MAX_STDERR_BYTES).toString('utf8'),
    truncated: overflowed || result.stdout.length > maxBytes,
  };
}

/** A program may end well without reading what it was offered. */
function leftInputUnread(result: { error?: Error | undefined; status: number | null }): boolean {
  return hasErrno(result.error, 'EPIPE') && result.status !== null;
}

function programTimeoutError(cause: Error, file: string, { timeoutMs, cwd }: ProgramOptions): HandoverError {
  return new HandoverError(
    'HANDOVER_PROGRAM_TIMEOUT',
    `${file} did not finish within ${timeoutMs} ms in ${cwd}`,
    {
      hint: 'Try again; if it happens again, run the same program there by hand and see what it waits for.',
      cause,
    },
  );
}

/** Why a program could not be started. */
export function explainStartFailure(error: Error, file: string, cwd: string): HandoverError {
  if (!isFolder(cwd)) {
    return new HandoverError('HANDOVER_PROJECT_MISSING', `${cwd} is not a folder that can be reached`, {
      hint: 'Check the path, and that the folder was not moved or deleted.',
      cause: error,
    });
  }
  if (hasErrno(error, 'ENOENT')) return programMissingError(file, error);
  if (hasErrno(error, 'EACCES', 'EPERM')) {
    return new HandoverError('HANDOVER_PERMISSION', `${file} may not be run in ${cwd}`, {
      hint: 'Check the permissions of the folder and of the program.',
      cause: error,
    });
  }
  if (hasErrno(error, 'EMFILE', 'ENFILE')) {
    return new HandoverError(
      'HANDOVER_TOO_MANY_OPEN_FILES',
      `${file} could not be started: too many open files`,
      {
        hint: 'Close other programs or raise the limit (ulimit -n), then try again.',
        cause: error,
      },
    );
  }
  return new HandoverError('HANDOVER_IO', `${file} could not be run in ${cwd}`, { cause: error });
}

function programMissingError(file: string, cause?: unknown): HandoverError {
  return new HandoverError('HANDOVER_PROGRAM_MISSING', `${file} was not found, or cannot be run`, {
    hint: `Install ${file}, or add the folder it is in to PATH.`,
    cause,
  });
}

/** The path of a program; throws when there is none that can be run. */
export function findProgram(file: string, env: Env): string {
  const candidates = isAbsolute(file) ? [file] : listPathFolders(env).map((folder) => join(folder, file));
  const found = candidates.flatMap((path) => withExtensions(path)).find((path) => isProgram(path));
  if (found === undefined) throw programMissingError(file);
  return found;
}

function listPathFolders(env: Env): string[] {
  const name =
    process.platform === 'win32' ? Object.keys(env).find((key) => key.toUpperCase() === 'PATH') : 'PATH';
  const path = name === undefined ? undefined : env[name];
  return (path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
}

/** Windows can start nothing else without a shell. */
function withExtensions(path: string): string[] {
  return process.platform === 'win32' ? [`${path}.exe`, `${path}.com`, path] : [path];
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG')) return false;
    throw error;
  }
}

export interface ForegroundOptions {
  cwd: string;
  /** The whole environment of the program: nothing is added to it. */
  env: Env;
}

/** What a terminal sends to all its programs, or a person to this one, is for the program in the foreground. */
const PASSED_ON = ['SIGTERM', 'SIGHUP'] as const;

/**
 * Gives the terminal to a program, never through a shell, and returns its exit status when it is done, as a shell would
 * tell it. Until then an interrupt from the keyboard, which reaches both, is the program's alone.
 */
export async function runInForeground(
  file: string,
  args: readonly string[],
  options: ForegroundOptions,
): Promise<number> {
  const { cwd, env } = options;
  const child = spawn(findProgram(file, env), args, { cwd, env: { ...env }, stdio: 'inherit', shell: false });
  const ignore = (): undefined => undefined;
  const pass = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  process.on('SIGINT', ignore);
  for (const signal of PASSED_ON) process.on(signal, pass);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', (error) => reject(explainStartFailure(error, file, cwd)));
      child.once('exit', (status, signal) =>
        resolve(status ?? 128 + osConstants.signals[signal ?? 'SIGKILL']),
      );
    });
  } finally {
    process.off('SIGINT', ignore);
    for (const signal of PASSED_ON) process.off(signal, pass);
  }
}

/** The Node that runs this, by its full path. */
export function findNode(): string {
  return process.execPath;
}

/** The folder of this package: what is built lies as deep in it as what is written. */
export function findPackageFolder(): string {
  return fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');
}

/** Where a program of that name is found in PATH, without starting it; null if nowhere. */
export function findOnPath(name: string, { env, platform }: Machine): string | null {
  const endings = platform === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (folder === '') continue;
    for (const ending of endings) {
      const path = join(folder, `${name}${ending}`);
      if (isExecutable(path)) return path;
    }
  }
  return null;
}

const MANIFEST_BYTES = 256 * 1024;
const LEVELS = 4;

/** The version in the manifest of the npm package that a program belongs to; null when it tells none. */
export function readProgramVersion(program: string): string | null {
  let folder = dirname(resolveRealPath(program) ?? program);
  for (let level = 0; level < LEVELS; level++) {
    const manifest = readHead(join(folder, 'package.json'), MANIFEST_BYTES)?.bytes.toString('utf8');
    if (manifest !== undefined) return /"version"\s*:\s*"([\w.+-]{1,64})"/.exec(manifest)?.[1] ?? null;
    folder = dirname(folder);
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    if (hasErrno(error, ...OUT_OF_REACH)) return false;
    throw error;
  }
}

interface Detached {
  env: Env;
  /** What it finds on its standard input; null for nothing. */
  input: string | null;
}

const LONGEST_HANDING_MS = 500;

/**
 * Starts this Node with a script and its arguments, as a process that lives on by itself. It is not waited for, whatever
 * becomes of it, but until it was handed its input, which a system may hold for it only in part.
 */
export async function startDetached(args: readonly string[], { env, input }: Detached): Promise<void> {
  const child = spawn(process.execPath, args, {
    cwd: '/',
    detached: true,
    env: { ...env },
    stdio: [input === null ? 'ignore' : 'pipe', 'ignore', 'ignore'],
    windowsHide: true,
  });
  await new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    if (child.stdin === null) {
      child.on('spawn', resolve);
      return;
    }
    // Whoever is gone before it was handed anything has no use for it.
    child.stdin.on('error', () => resolve());
    child.stdin.end(input, () => resolve());
    setTimeout(resolve, LONGEST_HANDING_MS).unref();
  });
  child.unref();
}
