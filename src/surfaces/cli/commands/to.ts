import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { idFlag } from '../pick.ts';
import { redactWords } from '../redact-words.ts';

export interface ToFlags {
  goal?: string;
  from?: string;
  budget?: string;
  print: boolean;
  json: boolean;
}

const text = (input: string): string => input;

export const to: Command<CliContext> = buildCommand<ToFlags, [string], CliContext>({
  loader: async () => (await import('./to.run.ts')).runTo,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [{ parse: text, brief: 'The agent to start', placeholder: 'agent' }],
    },
    flags: {
      goal: {
        kind: 'parsed',
        parse: redactWords,
        optional: true,
        brief: 'What it is to do; steers the choice of facts',
        placeholder: 'text',
      },
      from: { ...idFlag, brief: 'Start from this handover, instead of the newest one of this worktree' },
      budget: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Tokens of the brief at most (2000)',
        placeholder: 'tokens',
      },
      print: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Show what would be started, and do not start it',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'The same as --print, as JSON' },
    },
  },
  docs: { brief: 'Start another agent with the brief, in the right folder' },
});
