import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { explainFailure, findProgram } from './exec.ts';
import type { Env } from './machine.ts';

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
      child.once('error', (error) => reject(explainFailure(error, file, cwd)));
      child.once('exit', (status, signal) => resolve(status ?? 128 + constants.signals[signal ?? 'SIGKILL']));
    });
  } finally {
    process.off('SIGINT', ignore);
    for (const signal of PASSED_ON) process.off(signal, pass);
  }
}
