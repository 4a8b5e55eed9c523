import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { type CheckpointFlags, checkpointFlag } from './check.ts';

export const status: Command<CliContext> = buildCommand<CheckpointFlags, [], CliContext>({
  loader: async () => (await import('./status.run.ts')).runStatus,
  parameters: {
    flags: {
      checkpoint: checkpointFlag,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Tell how far the last run came, whether automation is paused, and what waits here' },
});
