import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface PushFlags {
  name?: string;
  apiKey?: string;
  dryRun: boolean;
  json: boolean;
}

const text = (input: string): string => input;

/** agent-handoff took it. It is known so that whoever still gives it hears what to do instead. */
export const apiKeyFlag = {
  kind: 'parsed',
  parse: text,
  optional: true,
  hidden: true,
  brief: 'Not taken: other users could see it',
} as const;

export const push: Command<CliContext> = buildCommand<PushFlags, [folder?: string], CliContext>({
  loader: async () => (await import('./push.run.ts')).runPush,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          brief: 'The folder with HANDOFF.md; this project if left out',
          parse: text,
          placeholder: 'dir',
          optional: true,
        },
      ],
    },
    flags: {
      name: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'What the project is called where it is published',
        placeholder: 'name',
      },
      apiKey: apiKeyFlag,
      dryRun: { kind: 'boolean', default: false, withNegated: false, brief: 'Only show what would leave' },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Publish memory and HANDOFF.md as your config.toml says' },
});
