import { buildCommand, type Command } from '@stricli/core';
import { type BriefFlags, briefFlags } from '../brief-flags.ts';
import type { CliContext } from '../context.ts';

export interface ResumeFlags extends BriefFlags {
  json: boolean;
}

export const resume: Command<CliContext> = buildCommand<ResumeFlags, [string?], CliContext>({
  loader: async () => (await import('./resume.run.ts')).runResume,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: (input) => input,
          optional: true,
          brief: 'The project’s folder; this one if left out',
          placeholder: 'folder',
        },
      ],
    },
    flags: {
      ...briefFlags,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Go on here: the newest brief of this worktree, and what changed since' },
});
