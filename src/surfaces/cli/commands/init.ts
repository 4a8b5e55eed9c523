import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { agentsFlag, mcpFlag } from './hooks.ts';
import { folderPositional } from './snapshot.ts';

export interface InitFlags {
  agent?: readonly string[];
  name?: string;
  files: boolean;
  hooks: boolean;
  mcp: boolean;
  force: boolean;
  remove: boolean;
  yes: boolean;
  dryRun: boolean;
  json: boolean;
}

const yes = (brief: string) => ({ kind: 'boolean', default: false, withNegated: false, brief }) as const;

export const init: Command<CliContext> = buildCommand<InitFlags, [string?], CliContext>({
  loader: async () => (await import('./init.run.ts')).runInit,
  parameters: {
    positional: folderPositional,
    flags: {
      agent: agentsFlag,
      name: {
        kind: 'parsed',
        parse: (input: string): string => input,
        optional: true,
        brief: 'The agent’s name, for SOUL.md',
        placeholder: 'name',
      },
      files: {
        kind: 'boolean',
        default: true,
        brief: 'Make SOUL.md, MEMORY.md and HANDOFF.md, and put a block into the files that agents read',
      },
      hooks: { kind: 'boolean', default: true, brief: 'Put hooks into the settings of agents' },
      mcp: mcpFlag,
      force: yes('Make the three files anew; what is in them is kept in the store'),
      remove: yes('Only take the blocks out again'),
      yes: yes('Do it without asking'),
      dryRun: yes('Only say what would be done'),
      json: yes('Print JSON'),
    },
    aliases: { y: 'yes' },
  },
  docs: { brief: 'Set up a project, and what lets agents hand over by themselves' },
});
