import type { HookLauncher } from './hook-command.ts';
import type { HookedAgent } from './hook-events.ts';

/** What our MCP server is called in the settings of every agent. */
export const SERVER_NAME = 'handover';

/** How an agent starts our MCP server: a Node and our command, both by their full paths. */
export interface ServerCommand {
  command: string;
  args: string[];
}

/** The command lies beside the hook entry. */
export function makeServerCommand({ node, script }: HookLauncher, agent: HookedAgent): ServerCommand {
  return {
    command: node,
    args: [script.replace(/hook\.cjs$/, 'handover.cjs'), 'mcp', '--agent', agent],
  };
}

/** What the settings of a server start, if that is ours for this agent, whichever folder it points to; null for any other. */
export function parseServerCommand(settings: unknown, agent: HookedAgent): HookLauncher | null {
  if (typeof settings !== 'object' || settings === null) return null;
  const { command, args = [] }: { command?: unknown; args?: unknown } = settings;
  const words: unknown[] = [command, args].flat();
  const [node, script, ...rest] = words;
  if (typeof node !== 'string' || typeof script !== 'string') return null;
  if (!/[\\/]bin[\\/]handover\.cjs$/.test(script) || rest.join(' ') !== `mcp --agent ${agent}`) return null;
  return { node, script };
}
