import { restoreHere } from '../../../app/restore.ts';
import { briefFlags, readBriefFlags } from '../brief-flags.ts';
import type { CliContext } from '../context.ts';
import { command, type FlagValues, json, terminalFlag } from '../flags.ts';

const flags = { terminal: terminalFlag, ...briefFlags, json };

export const restore = command('restore', runRestore, { flags });

async function runRestore(this: CliContext, values: FlagValues<typeof flags>): Promise<void> {
  const { reader, options } = readBriefFlags(values, this.machine);
  const { handover, brief } = await restoreHere(this, { terminal: values.terminal, reader, options });
  const { tokens, text } = brief;
  if (values.json) this.out.json({ id: handover.id, status: 'consumed', target: reader.agent, tokens, text });
  else this.out.block(text);
}
