import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface DiffFlags {
  all: boolean;
  json: boolean;
}

const text = (input: string): string => input;

export const diff: Command<CliContext> = buildCommand<DiffFlags, [string?, string?], CliContext>({
  loader: async () => (await import('./diff.run.ts')).runDiff,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: text,
          optional: true,
          brief: 'An id, the beginning of one, or latest; alone, it is compared with its previous',
          placeholder: 'id',
        },
        { parse: text, optional: true, brief: 'The handover to compare it with', placeholder: 'other' },
      ],
    },
    flags: {
      all: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Every line, also what was carried unchanged',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Compare two handovers, fact by fact' },
});
