import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface MigrateFlags {
  from?: string;
  project?: string;
  workspace?: string;
  dryRun: boolean;
  json: boolean;
}

const text = (input: string): string => input;

export const migrate: Command<CliContext> = buildCommand<MigrateFlags, [], CliContext>({
  loader: async () => (await import('./migrate.run.ts')).runMigrate,
  parameters: {
    flags: {
      from: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'A handoffs.json, a V2 envelope, or a folder of these; found by itself if left out',
        placeholder: 'path',
      },
      project: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'The project’s folder, for envelopes that do not tell theirs; this one if left out',
        placeholder: 'folder',
      },
      workspace: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Instead, what agent-handover and agent-handoff for Python left in this folder',
        placeholder: 'folder',
      },
      dryRun: { kind: 'boolean', default: false, withNegated: false, brief: 'Only say what would be done' },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Import the store of session-handoff, and the envelopes of handoff V2' },
});
