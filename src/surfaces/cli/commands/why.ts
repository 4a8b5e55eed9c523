import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { type QuestionFlags, questionFlags } from '../question-flags.ts';

export const why: Command<CliContext> = buildCommand<QuestionFlags, [string], CliContext>({
  loader: async () => (await import('./why.run.ts')).runWhy,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: (input: string): string => input,
          brief: 'A file, a folder, a pattern such as "src/**/*.ts", or FILE:SYMBOL',
          placeholder: 'file',
        },
      ],
    },
    flags: questionFlags,
  },
  docs: { brief: 'Why a file is as it is: what was decided, by which sessions, in which commits' },
});
