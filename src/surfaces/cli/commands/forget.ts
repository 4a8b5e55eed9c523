import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface ForgetFlags {
  json: boolean;
}

const text = (input: string): string => input;

export const forget: Command<CliContext> = buildCommand<ForgetFlags, string[], CliContext>({
  loader: async () => (await import('./forget.run.ts')).runForget,
  parameters: {
    positional: {
      kind: 'array',
      minimum: 1,
      parameter: { parse: text, brief: 'An id, or the beginning of one', placeholder: 'id' },
    },
    flags: { json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' } },
  },
  docs: { brief: 'Delete handovers for good' },
});
