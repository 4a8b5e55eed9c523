import { buildCommand, type Command } from '@stricli/core';
import { type BriefFlags, briefFlags } from '../brief-flags.ts';
import type { CliContext } from '../context.ts';
import { terminalFlag } from '../terminal-flag.ts';

export interface RestoreFlags extends BriefFlags {
  terminal?: string;
  json: boolean;
}

export const restore: Command<CliContext> = buildCommand<RestoreFlags, [], CliContext>({
  loader: async () => (await import('./restore.run.ts')).runRestore,
  parameters: {
    flags: {
      terminal: terminalFlag,
      ...briefFlags,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Take up the newest handover of this worktree that still waits and is fresh, once' },
});
