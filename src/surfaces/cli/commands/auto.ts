import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { apiKeyFlag } from './push.ts';
import { folderPositional, modeFlag } from './snapshot.ts';

export interface AutoFlags {
  name?: string;
  mode: string;
  apiKey?: string;
  json: boolean;
}

export const auto: Command<CliContext> = buildCommand<AutoFlags, [string?], CliContext>({
  loader: async () => (await import('./auto.run.ts')).runAuto,
  parameters: {
    positional: folderPositional,
    flags: {
      name: {
        kind: 'parsed',
        parse: (input: string): string => input,
        optional: true,
        brief: 'The agent’s name, as it is to stand in the snapshot',
        placeholder: 'name',
      },
      mode: { ...modeFlag, default: 'auto' },
      apiKey: apiKeyFlag,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Snapshot by itself, as from cron: silent when all is well, one at a time' },
});
