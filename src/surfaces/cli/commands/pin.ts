import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { factPositional, type MarkFlags, markFlags } from '../mark-flags.ts';

export const pin: Command<CliContext> = buildCommand<MarkFlags, [string], CliContext>({
  loader: async () => (await import('./mark.run.ts')).runPin,
  parameters: { positional: factPositional, flags: markFlags },
  docs: { brief: 'Keep a fact in every brief of this project until it is resolved' },
});
