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
  /** The same as `terminal`, as it was when each of the keys was typed. */
  shown: string[];
}

export interface TerminalOptions {
  keys?: readonly Keys[];
  /** Standard output is a pipe, as in `id=$(handover select)`. */
  pipeOutput?: boolean;
  /** The size that the terminal says it has; 40 by 120 if left out. */
  size?: { rows: number; columns: number };
  /** Keys are typed only when nothing was shown for so long: the screen is drawn. */
  quietMs?: number;
  env?: Readonly<Record<string, string | undefined>>;
  /** What to run; `handover` if left out. */
  program?: readonly string[];
}

export async function runInTerminal(
  sandbox: Sandbox,
  args: readonly string[],
  { keys = [], pipeOutput = false, size = { rows: 40, columns: 120 }, quietMs = 0, ...options }: TerminalOptions = {},
): Promise<TerminalResult> {
  // A pager would wait for keys.
  const env = { PATH: process.env.PATH, TERM: 'xterm-256color', PAGER: 'cat', ...sandbox.env, ...options.env };
  const command = [...(options.program ?? [process.execPath, HANDOVER]), ...args];
  const request = { command, cwd: sandbox.project, env, steps: keys, pipeOutput, quietMs, ...size, timeoutMs: 90_000 };
  const { status, stdout, stderr } = await runProcess(['python3', SCRIPT], {
    input: JSON.stringify(request),
    timeoutMs: 100_000,
  });
  if (status !== 0) throw new Error(`no pseudo-terminal: ${stderr}`);
  const result: TerminalResult = JSON.parse(stdout);
  if (result.status === 70) throw new Error(result.terminal);
  return result;
}
