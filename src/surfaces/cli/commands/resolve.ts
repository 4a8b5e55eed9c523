import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { factPositional, type MarkFlags, markFlags } from '../mark-flags.ts';

export const resolve: Command<CliContext> = buildCommand<MarkFlags, [string], CliContext>({
  loader: async () => (await import('./mark.run.ts')).runResolve,
  parameters: { positional: factPositional, flags: markFlags },
  docs: { brief: 'Say that a fact is settled: it leaves the briefs' },
});
