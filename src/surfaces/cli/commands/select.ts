import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { type FilterFlags, filterFlags } from '../filters.ts';

export interface SelectFlags extends FilterFlags {
  printId: boolean;
  json: boolean;
}

export const select: Command<CliContext> = buildCommand<SelectFlags, [], CliContext>({
  loader: async () => (await import('./select.run.ts')).runSelect,
  parameters: {
    flags: {
      ...filterFlags,
      printId: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Do not ask: print the newest match',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Pick a handover by typing parts of it, and print its id' },
});
