import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface SnapshotFlags {
  mode: string;
  stdout: boolean;
  earlier: boolean;
  json: boolean;
}

const text = (input: string): string => input;

export const folderPositional = {
  kind: 'tuple',
  parameters: [
    {
      parse: text,
      optional: true,
      brief: 'The project’s folder; this one if left out',
      placeholder: 'folder',
    },
  ],
} as const;

export const modeFlag = {
  kind: 'parsed',
  parse: text,
  default: 'manual',
  brief: 'A label for the session, such as build',
  placeholder: 'label',
} as const;

export const snapshot: Command<CliContext> = buildCommand<SnapshotFlags, [string?], CliContext>({
  loader: async () => (await import('./snapshot.run.ts')).runSnapshot,
  parameters: {
    positional: folderPositional,
    flags: {
      mode: modeFlag,
      stdout: { kind: 'boolean', default: false, withNegated: false, brief: 'Also print it' },
      earlier: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Only list the earlier ones that were kept',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Write HANDOFF.md from the newest handover, git and the project' },
});
