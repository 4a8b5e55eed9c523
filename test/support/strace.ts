import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasProgram, makeTempFolder, type RunResult, runProcess } from './cli.ts';

/** Whether system calls can be watched here. */
export const canTrace: boolean = hasProgram('strace', '-o', '/dev/null', 'true');

export interface Trace extends RunResult {
  /** One system call a line, with the paths of descriptors, in their order. */
  calls: string[];
}

/** Runs a command and notes its system calls. */
export async function traceCommand(
  command: readonly string[],
  calls: string,
  options: Parameters<typeof runProcess>[1],
): Promise<Trace> {
  const log = join(makeTempFolder(), 'trace');
  const result = await runProcess(command, {
    ...options,
    timeoutMs: 100_000,
    through: ['strace', '-f', '-qq', '-y', '-s', '0', '-o', log, '-e', `trace=${calls}`, '-e', 'signal=none'],
  });
  return {
    ...result,
    calls: readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => !line.endsWith('unfinished ...>')),
  };
}
