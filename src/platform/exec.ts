import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { HandoverError, hasErrno } from '../errors.ts';
import { isFolder } from './folders.ts';
import type { Env } from './machine.ts';

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
    if (hasErrno(result.error, 'ETIMEDOUT')) throw explainTimeout(result.error, file, options);
    throw explainFailure(result.error, file, cwd);
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

function explainTimeout(cause: Error, file: string, { timeoutMs, cwd }: ProgramOptions): HandoverError {
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
export function explainFailure(error: Error, file: string, cwd: string): HandoverError {
  if (!isFolder(cwd)) {
    return new HandoverError('HANDOVER_PROJECT_MISSING', `${cwd} is not a folder that can be reached`, {
      hint: 'Check the path, and that the folder was not moved or deleted.',
      cause: error,
    });
  }
  if (hasErrno(error, 'ENOENT')) return missingProgram(file, error);
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

function missingProgram(file: string, cause?: unknown): HandoverError {
  return new HandoverError('HANDOVER_PROGRAM_MISSING', `${file} was not found, or cannot be run`, {
    hint: `Install ${file}, or add the folder it is in to PATH.`,
    cause,
  });
}

/** The path of a program; throws when there is none that can be run. */
export function findProgram(file: string, env: Env): string {
  const candidates = isAbsolute(file) ? [file] : listPathFolders(env).map((folder) => join(folder, file));
  const found = candidates.flatMap((path) => withExtensions(path)).find((path) => isProgram(path));
  if (found === undefined) throw missingProgram(file);
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
