import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { idFlag, idPositional } from '../pick.ts';

export interface RenderFlags {
  id?: string;
  target: string;
  budget?: string;
  goal?: string;
  json: boolean;
}

const text = (input: string): string => input;

export const render: Command<CliContext> = buildCommand<RenderFlags, [string?], CliContext>({
  loader: async () => (await import('./render.run.ts')).runRender,
  parameters: {
    positional: idPositional,
    flags: {
      id: idFlag,
      target: {
        kind: 'parsed',
        parse: text,
        default: 'generic',
        brief: 'The agent that will read it',
        placeholder: 'agent',
      },
      budget: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Tokens at most (2000)',
        placeholder: 'tokens',
      },
      goal: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'What the next session is to do; steers the choice of facts',
        placeholder: 'text',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Print a handover as a brief for an agent' },
});
