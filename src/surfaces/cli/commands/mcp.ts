import { buildCommand, type Command } from '@stricli/core';
import { runServer } from '../../mcp/main.ts';
import { requireAgent } from '../agents.ts';
import type { CliContext } from '../context.ts';

export interface McpFlags {
  agent?: string;
}

export const mcp: Command<CliContext> = buildCommand<McpFlags, [], CliContext>({
  func: runMcp,
  parameters: {
    flags: {
      agent: {
        kind: 'parsed',
        parse: (input: string): string => input,
        optional: true,
        brief: 'The agent that starts it',
        placeholder: 'name',
      },
    },
  },
  docs: { brief: 'Serve the tools for agents, by the Model Context Protocol over standard input and output' },
});

export function runMcp(this: CliContext, flags: McpFlags): void {
  runServer(flags.agent === undefined ? undefined : requireAgent(flags.agent));
}
