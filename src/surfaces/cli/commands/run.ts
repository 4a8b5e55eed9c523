import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { checkpointFlag } from './check.ts';

export interface RunFlags {
  config?: string;
  note?: string;
  currentState?: string;
  checkpoint?: string;
  noPush: boolean;
  dryRun: boolean;
  resume: boolean;
  restart: boolean;
  json: boolean;
}

const text = (input: string): string => input;
const one = (brief: string, placeholder: string) =>
  ({ kind: 'parsed', parse: text, optional: true, brief, placeholder }) as const;
const yes = (brief: string) => ({ kind: 'boolean', default: false, withNegated: false, brief }) as const;

export const run: Command<CliContext> = buildCommand<RunFlags, [], CliContext>({
  loader: async () => (await import('./run.run.ts')).runRun,
  parameters: {
    flags: {
      config: one(
        'Declares the steps; the project’s handover.toml, or your own settings, if left out',
        'file',
      ),
      note: one('What happened; - reads it from standard input', 'text'),
      currentState: one('Where things stand; the note if left out', 'text'),
      checkpoint: checkpointFlag,
      noPush: yes('Send nothing anywhere'),
      dryRun: yes('Only say what would be done'),
      resume: yes('Only go on with a run that was interrupted'),
      restart: yes('Begin anew, even if a run was interrupted'),
      json: yes('Print JSON'),
    },
  },
  docs: { brief: 'Carry out the declared steps, going on where an interrupted run ended' },
});
