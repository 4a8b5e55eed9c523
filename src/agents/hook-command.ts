import type { HookedAgent } from './hook-events.ts';

/** What every hook starts: a Node and our hook entry, both by their full paths. */
export interface HookLauncher {
  node: string;
  script: string;
}

export interface HookCall {
  agent: HookedAgent;
  event: string;
  /** PowerShell takes a quoted program for a text, unless told to call it. */
  shell?: 'posix' | 'powershell';
}

/** The command line of a hook. Names of agents and events need no quotes; paths may hold anything. */
export function formatHookCommand(launcher: HookLauncher, call: HookCall): string {
  const { agent, event, shell = 'posix' } = call;
  const quote = shell === 'posix' ? quoteForPosix : quoteForPowerShell;
  const start = shell === 'powershell' ? '& ' : '';
  return `${start}${quote(launcher.node)} ${quote(launcher.script)} ${agent} ${event}`;
}

function quoteForPosix(path: string): string {
  return `"${path.replace(/[\\"$`]/g, '\\$&')}"`;
}

function quoteForPowerShell(path: string): string {
  return `"${path.replace(/["$`]/g, '`$&')}"`;
}

const FORM = /^"((?:[^"\\]|\\.)+)" "((?:[^"\\]|\\.)*\/bin\/hook\.cjs)" ([a-z-]+) [\w.]+(?: |$)/s;

/** The launcher of a command that is one of ours for this agent, whichever folder it points to; null for any other. */
export function parseHookCommand(command: string, agent: HookedAgent): HookLauncher | null {
  const [, node, script, named] = FORM.exec(command) ?? [];
  if (node === undefined || script === undefined || named !== agent) return null;
  return { node: unquote(node), script: unquote(script) };
}

function unquote(text: string): string {
  return text.replace(/\\([\\"$`])/g, '$1');
}
