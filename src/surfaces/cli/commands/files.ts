import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { type QuestionFlags, questionFlags } from '../question-flags.ts';

export const files: Command<CliContext> = buildCommand<QuestionFlags, [], CliContext>({
  loader: async () => (await import('./files.run.ts')).runFiles,
  parameters: {
    flags: questionFlags,
  },
  docs: { brief: 'The files that sessions worked on, those first that most of them changed' },
});
