import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface RedactFlags {
  json: boolean;
}

export const redact: Command<CliContext> = buildCommand<RedactFlags, [string?], CliContext>({
  loader: async () => (await import('./redact.run.ts')).runRedact,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: (input: string): string => input,
          optional: true,
          brief: 'The file; standard input if left out, or -',
          placeholder: 'file',
        },
      ],
    },
    flags: {
      json: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Print JSON of what was found instead of the text',
      },
    },
  },
  docs: { brief: 'Print a text without its secrets' },
});
