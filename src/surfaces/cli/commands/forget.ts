import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface ForgetFlags {
  session?: string;
  json: boolean;
}

const text = (input: string): string => input;

export const forget: Command<CliContext> = buildCommand<ForgetFlags, string[], CliContext>({
  loader: async () => (await import('./forget.run.ts')).runForget,
  parameters: {
    positional: {
      kind: 'array',
      parameter: { parse: text, brief: 'An id, or the beginning of one', placeholder: 'id' },
    },
    flags: {
      session: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Delete what search keeps of the text of this session, and read it no more',
        placeholder: 'id',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Delete handovers, or the kept text of a session, for good' },
});
