import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { type QuestionFlags, questionFlags } from '../question-flags.ts';

export const timeline: Command<CliContext> = buildCommand<QuestionFlags, [], CliContext>({
  loader: async () => (await import('./timeline.run.ts')).runTimeline,
  parameters: {
    flags: questionFlags,
  },
  docs: { brief: 'What happened, day by day: sessions, decisions, checks, commits' },
});
