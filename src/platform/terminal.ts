import type { Env } from './machine.ts';
import { type Ancestor, readStart } from './process-identity.ts';

/** Variables that name a terminal on purpose; the first one set counts. */
const EXPLICIT_VARIABLES = ['CLAUDE_TERMINAL_ID', 'TERMINAL_ID', 'TERM_ID', 'SESSION_TERMINAL'] as const;
/** Variables by which terminal programs tell their windows apart. Used only where the kernel gives no answer. */
const TERMINAL_PROGRAM_VARIABLES = [
  ...['TERM_SESSION_ID', 'ITERM_SESSION_ID', 'TMUX_PANE', 'ZELLIJ_PANE_ID'],
  ...['WEZTERM_PANE', 'KITTY_WINDOW_ID', 'ALACRITTY_WINDOW_ID'],
];

interface TerminalHints {
  /** The terminal that the agent itself names; null for none. */
  named: string | null;
  env: Env;
  ancestors: readonly Ancestor[];
}

/** Differs from later terminals of the same number. An agent without one counts as its own. Null where unknown. */
export function identifyTerminal({ named, env, ancestors }: TerminalHints): string | null {
  const given = [named, ...EXPLICIT_VARIABLES.map((name) => (env[name] ? `env_${env[name]}` : null))];
  const window = env.WT_SESSION ? `console_${env.WT_SESSION}` : null;
  for (const candidate of [...given, window]) {
    const id = candidate === null ? null : cleanTerminalId(candidate);
    if (id !== null) return id;
  }
  const agent = findAgentProcess(ancestors);
  if (agent?.tty === 0) return `process_${nameProcess(agent)}`;
  // Terminal numbers are reused; the run of the session leader is not.
  if (agent !== null) return `tty_${agent.tty}-${agent.leader}-${readStart(agent.leader) ?? '0'}`;
  const variable = TERMINAL_PROGRAM_VARIABLES.find((name) => env[name]);
  return variable === undefined ? null : cleanTerminalId(`${variable.toLowerCase()}_${env[variable]}`);
}

/** Null for what could be a path: ids become part of messages and file names of other tools. */
export function cleanTerminalId(id: string): string | null {
  if (id === '' || id.includes('\0') || id.includes('..') || /^(?:\.\/|[\\/])/.test(id)) return null;
  return id.replace(/[\\/:]/g, '-').slice(0, 200);
}

/** Programs between an agent and its hook. */
const WRAPPER_PROGRAMS: ReadonlySet<string> = new Set('sh bash dash zsh fish ksh busybox env timeout nice'.split(' '));

/** The process of the agent that runs the hook; null where unknown. */
export function findAgentProcess(ancestors: readonly Ancestor[]): Ancestor | null {
  return ancestors.find(isAgentProcess) ?? null;
}

export function isAgentProcess({ name }: Ancestor): boolean {
  return !WRAPPER_PROGRAMS.has(name);
}

/** Names one run of one process. */
export function nameProcess({ pid, start }: Ancestor): string {
  return `${pid}-${start}`;
}

/** Null where the system does not reveal when a process started. */
export function nameOwnProcess(): string | null {
  const start = readStart(process.pid);
  return start === null ? null : `${process.pid}-${start}`;
}

const TIMERS: ReadonlySet<string> = new Set(['cron', 'crond', 'anacron', 'atd']);

/** Whether a system timer started this, with nobody present. */
export function isStartedByTimer(ancestors: readonly Ancestor[]): boolean {
  return ancestors.some(({ name }) => TIMERS.has(name.toLowerCase()));
}
