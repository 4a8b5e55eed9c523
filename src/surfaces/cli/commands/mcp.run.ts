import { serve } from '../../mcp/serve.ts';
import { requireAgent } from '../agents.ts';
import type { CliContext } from '../context.ts';
import type { McpFlags } from './mcp.ts';

const ENDING = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Runs until its input ends, or it is told to end. */
export function runMcp(this: CliContext, flags: McpFlags): void {
  const agent = flags.agent === undefined ? null : requireAgent(flags.agent);
  const handle = serve({ machine: this.machine, agent, input: process.stdin, output: process.stdout });
  for (const signal of ENDING) process.once(signal, () => void handle.close());
}
