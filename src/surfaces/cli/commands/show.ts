import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { idFlag, idPositional } from '../pick.ts';

export interface ShowFlags {
  id?: string;
  events?: string;
  json: boolean;
}

export const show: Command<CliContext> = buildCommand<ShowFlags, [string?], CliContext>({
  loader: async () => (await import('./show.run.ts')).runShow,
  parameters: {
    positional: idPositional,
    flags: {
      id: idFlag,
      events: {
        kind: 'parsed',
        parse: (input: string): string => input,
        optional: true,
        inferEmpty: true,
        brief: 'Walk back from the facts, or from the one with this id, to the events they came from',
        placeholder: 'fact',
      },
      json: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Print JSON: the sealed record, or the events',
      },
    },
  },
  docs: { brief: 'Show all of a handover' },
});
