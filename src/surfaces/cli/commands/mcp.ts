import { buildCommand } from '@stricli/core';
import { requireAgent } from '../../../app/parse.ts';
import { runServer } from '../../mcp/main.ts';
import { BRIEFS } from '../briefs.ts';
import type { CliContext } from '../context.ts';
import { type FlagValues, text } from '../flags.ts';

const flags = { agent: text('The agent that starts it', 'name') };

export const mcp = buildCommand({ func: runMcp, parameters: { flags }, docs: { brief: BRIEFS.mcp } });

function runMcp(this: CliContext, { agent }: FlagValues<typeof flags>): void {
  runServer(agent === undefined ? undefined : requireAgent(agent));
}
