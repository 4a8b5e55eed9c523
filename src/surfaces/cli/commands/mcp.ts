import { requireAgent } from '../../../app/parse.ts';
import { runServer } from '../../mcp/main.ts';
import type { CliContext } from '../context.ts';
import { command, type FlagValues, text } from '../flags.ts';

const flags = { agent: text('The agent that starts it', 'agent') };

export const mcp = command('mcp', runMcp, { flags });

function runMcp(this: CliContext, { agent }: FlagValues<typeof flags>): void {
  runServer(agent === undefined ? undefined : requireAgent(agent));
}
