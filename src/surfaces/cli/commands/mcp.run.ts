import { runServer } from '../../mcp/main.ts';
import { requireAgent } from '../agents.ts';
import type { CliContext } from '../context.ts';
import type { McpFlags } from './mcp.ts';

export function runMcp(this: CliContext, flags: McpFlags): void {
  runServer(flags.agent === undefined ? undefined : requireAgent(flags.agent));
}
