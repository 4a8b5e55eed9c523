import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { type QuestionFlags, questionFlags } from '../question-flags.ts';

export const errors: Command<CliContext> = buildCommand<QuestionFlags, [string], CliContext>({
  loader: async () => (await import('./errors.run.ts')).runErrors,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: (input: string): string => input,
          brief: 'What an error said, or a whole trace; - reads it from standard input',
          placeholder: 'text',
        },
      ],
    },
    flags: questionFlags,
  },
  docs: { brief: 'Whether an error was seen before, and what made it go away' },
});
