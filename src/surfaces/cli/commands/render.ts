import { buildCommand, type Command } from '@stricli/core';
import { type BriefFlags, briefFlags } from '../brief-flags.ts';
import type { CliContext } from '../context.ts';
import { idFlag, idPositional } from '../pick.ts';

export interface RenderFlags extends BriefFlags {
  id?: string;
  json: boolean;
}

export const render: Command<CliContext> = buildCommand<RenderFlags, [string?], CliContext>({
  loader: async () => (await import('./render.run.ts')).runRender,
  parameters: {
    positional: idPositional,
    flags: {
      id: idFlag,
      ...briefFlags,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Print a handover as a brief for an agent' },
});
