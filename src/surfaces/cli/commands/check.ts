import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface CheckpointFlags {
  checkpoint?: string;
  json: boolean;
}

const text = (input: string): string => input;

export const checkpointFlag = {
  kind: 'parsed',
  parse: text,
  optional: true,
  brief: 'Its file; the project’s .agent-handover/checkpoint.json if left out',
  placeholder: 'file',
} as const;

export const check: Command<CliContext> = buildCommand<CheckpointFlags, [], CliContext>({
  loader: async () => (await import('./check.run.ts')).runCheck,
  parameters: {
    flags: {
      checkpoint: checkpointFlag,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: {
    brief: 'Exit with 0: no run, 1: a run was interrupted, 2: the last run completed',
  },
});
