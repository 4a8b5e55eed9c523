import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { becauseFlag, factPositional, type MarkFlags, markFlags } from '../mark-flags.ts';

export const refute: Command<CliContext> = buildCommand<
  MarkFlags & { because: string },
  [string],
  CliContext
>({
  loader: async () => (await import('./mark.run.ts')).runRefute,
  parameters: {
    positional: factPositional,
    flags: { ...markFlags, because: { ...becauseFlag, optional: false, brief: 'Why it did not work' } },
  },
  docs: { brief: 'Say that a fact did not hold, and why: briefs warn of it' },
});
