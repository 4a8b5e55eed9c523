import type { Env } from './machine.ts';
import { type Ancestor, readStart } from './process-identity.ts';

/** Variables that name a terminal on purpose, the first one that is set. */
const NAMED = ['CLAUDE_TERMINAL_ID', 'TERMINAL_ID', 'TERM_ID', 'SESSION_TERMINAL'] as const;
/** Variables by which terminal programs tell their windows apart. Asked only where the kernel does not tell. */
const OF_PROGRAMS = [
  'TERM_SESSION_ID',
  'ITERM_SESSION_ID',
  'TMUX_PANE',
  'ZELLIJ_PANE_ID',
  'WEZTERM_PANE',
  'KITTY_WINDOW_ID',
  'ALACRITTY_WINDOW_ID',
] as const;

export interface Surroundings {
  /** The terminal that the agent itself names; null for none. */
  named: string | null;
  env: Env;
  ancestors: readonly Ancestor[];
}

/**
 * What tells one terminal from another, also from a later one of the same number. An agent that has none is a terminal of
 * its own. Null where nothing is known: then only the session itself can be recognised.
 */
export function identifyTerminal({ named, env, ancestors }: Surroundings): string | null {
  const given = [named, ...NAMED.map((name) => (env[name] ? `env_${env[name]}` : null))];
  const window = env.WT_SESSION ? `console_${env.WT_SESSION}` : null;
  for (const candidate of [...given, window]) {
    const id = candidate === null ? null : cleanTerminalId(candidate);
    if (id !== null) return id;
  }
  const agent = findAgentProcess(ancestors);
  if (agent !== null) return agent.tty === 0 ? `process_${nameProcess(agent)}` : nameTty(agent);
  const variable = OF_PROGRAMS.find((name) => env[name]);
  return variable === undefined ? null : cleanTerminalId(`${variable.toLowerCase()}_${env[variable]}`);
}

/** Null for what could be a path: an id becomes part of messages and views of other tools. */
export function cleanTerminalId(id: string): string | null {
  if (id === '' || id.includes('\0') || id.includes('..') || /^(?:\.\/|[\\/])/.test(id)) return null;
  return id.replace(/[\\/:]/g, '-').slice(0, 200);
}

/** What starts a hook on behalf of an agent, without being one. */
const STARTERS: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'dash',
  'zsh',
  'fish',
  'ksh',
  'busybox',
  'env',
  'timeout',
  'nice',
]);

/** The process of the agent that runs the hook; null where the system does not tell. */
export function findAgentProcess(ancestors: readonly Ancestor[]): Ancestor | null {
  return ancestors.find(isAgentProcess) ?? null;
}

export function isAgentProcess({ name }: Ancestor): boolean {
  return !STARTERS.has(name);
}

/** Names one run of one process. */
export function nameProcess({ pid, start }: Ancestor): string {
  return `${pid}-${start}`;
}

const TIMERS: ReadonlySet<string> = new Set(['cron', 'crond', 'anacron', 'atd']);

/** Whether a timer of the system began all this, with nobody there. */
export function isBegunByTimer(ancestors: readonly Ancestor[]): boolean {
  return ancestors.some(({ name }) => TIMERS.has(name.toLowerCase()));
}

/** Numbers of terminals are given out again; the run of the shell that leads it is not. */
function nameTty({ tty, leader }: Ancestor): string {
  return `tty_${tty}-${leader}-${readStart(leader) ?? '0'}`;
}
