import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { idFlag, idPositional } from '../pick.ts';

export interface ShowFlags {
  id?: string;
  json: boolean;
}

export const show: Command<CliContext> = buildCommand<ShowFlags, [string?], CliContext>({
  loader: async () => (await import('./show.run.ts')).runShow,
  parameters: {
    positional: idPositional,
    flags: {
      id: idFlag,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print the sealed record as JSON' },
    },
  },
  docs: { brief: 'Show all of a handover' },
});
