import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { agentsFlag } from './hooks.ts';

export interface InitFlags {
  agent?: readonly string[];
  hooks: boolean;
  yes: boolean;
  dryRun: boolean;
  json: boolean;
}

export const init: Command<CliContext> = buildCommand<InitFlags, [], CliContext>({
  loader: async () => (await import('./init.run.ts')).runInit,
  parameters: {
    flags: {
      agent: agentsFlag,
      hooks: { kind: 'boolean', default: true, brief: 'Put hooks into the settings of agents' },
      yes: { kind: 'boolean', default: false, withNegated: false, brief: 'Do it without asking' },
      dryRun: { kind: 'boolean', default: false, withNegated: false, brief: 'Only say what would be done' },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
    aliases: { y: 'yes' },
  },
  docs: { brief: 'Set up what lets agents hand over by themselves' },
});
