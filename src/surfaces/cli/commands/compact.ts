import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface CompactFlags {
  month?: string;
  memory?: string;
  dryRun: boolean;
  json: boolean;
}

const text = (input: string): string => input;

export const compact: Command<CliContext> = buildCommand<CompactFlags, [], CliContext>({
  loader: async () => (await import('./compact.run.ts')).runCompact,
  parameters: {
    flags: {
      month: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'As 2026-10; all that are over if left out',
        placeholder: 'month',
      },
      memory: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'The folder of the memory; that of the project if left out',
        placeholder: 'folder',
      },
      dryRun: { kind: 'boolean', default: false, withNegated: false, brief: 'Only say what would be done' },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Merge the notes of months that are over into archives' },
});
