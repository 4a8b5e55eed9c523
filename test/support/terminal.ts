import { fileURLToPath } from 'node:url';
import { HANDOVER, hasProgram, runProcess, type Sandbox } from './cli.ts';

/** Pseudo-terminals are made by Python, which is not on every machine. */
export const hasTerminal: boolean = process.platform !== 'win32' && hasProgram('python3', '-c', 'import pty, termios');

const SCRIPT = fileURLToPath(new URL('./run-in-terminal.py', import.meta.url));

export interface Keys {
  /** What must have been shown, since the keys before, when these are typed. */
  after: string;
  type: string;
}

export interface TerminalResult {
  status: number;
  /** All that reached the terminal, as it was written. */
  terminal: string;
  /** What reached standard output, where that is a pipe. */
  stdout: string;
}

export interface TerminalOptions {
  keys?: readonly Keys[];
  /** Standard output is a pipe, as in `id=$(handover select)`. */
  pipeOutput?: boolean;
}

export async function runInTerminal(
  sandbox: Sandbox,
  args: readonly string[],
  { keys = [], pipeOutput = false }: TerminalOptions = {},
): Promise<TerminalResult> {
  const env = { PATH: process.env.PATH, TERM: 'xterm-256color', ...sandbox.env };
  const command = [process.execPath, HANDOVER, ...args];
  const request = { command, cwd: sandbox.project, env, steps: keys, pipeOutput, timeoutMs: 15_000 };
  const { status, stdout, stderr } = await runProcess(['python3', SCRIPT], {
    input: JSON.stringify(request),
    timeoutMs: 20_000,
  });
  if (status !== 0) throw new Error(`no pseudo-terminal: ${stderr}`);
  const result: TerminalResult = JSON.parse(stdout);
  if (result.status === 70) throw new Error(result.terminal);
  return result;
}
