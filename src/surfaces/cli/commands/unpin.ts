import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { factPositional, type MarkFlags, markFlags } from '../mark-flags.ts';

export const unpin: Command<CliContext> = buildCommand<MarkFlags, [string], CliContext>({
  loader: async () => (await import('./mark.run.ts')).runUnpin,
  parameters: { positional: factPositional, flags: markFlags },
  docs: { brief: 'Take a pin away; the fact stays' },
});
