import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface CaptureFlags {
  agent?: string;
  session?: string;
  transcript?: string;
  latest: boolean;
  budget?: string;
  target?: string;
  goal?: string;
  print: 'brief' | 'json' | 'v2' | 'none';
  dryRun: boolean;
  json: boolean;
}

const text = (input: string): string => input;

export const capture: Command<CliContext> = buildCommand<CaptureFlags, [], CliContext>({
  loader: async () => (await import('./capture.run.ts')).runCapture,
  parameters: {
    flags: {
      agent: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only a session of this agent',
        placeholder: 'name',
      },
      session: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'The session with this id',
        placeholder: 'id',
      },
      transcript: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'The session in this file',
        placeholder: 'file',
      },
      latest: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'The newest session of this project; what happens anyway',
      },
      budget: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Tokens of the brief at most (2000)',
        placeholder: 'tokens',
      },
      target: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'The agent that will read the brief',
        placeholder: 'agent',
      },
      goal: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'What the next session is to do; steers the choice of facts',
        placeholder: 'text',
      },
      print: {
        kind: 'enum',
        values: ['brief', 'json', 'v2', 'none'],
        default: 'brief',
        brief: 'What to print; v2 is the envelope of handoff V2',
      },
      dryRun: { kind: 'boolean', default: false, withNegated: false, brief: 'Keep nothing' },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'The same as --print json' },
    },
  },
  docs: { brief: 'Make a handover of a session from the agent’s own files' },
});
