import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { type FilterFlags, filterFlags } from '../filters.ts';
import { terminalFlag } from '../terminal-flag.ts';

export interface ListFlags extends FilterFlags {
  latest: boolean;
  terminal?: string;
  status: boolean;
  json: boolean;
}

export const list: Command<CliContext> = buildCommand<ListFlags, [], CliContext>({
  loader: async () => (await import('./list.run.ts')).runList,
  parameters: {
    flags: {
      ...filterFlags,
      latest: { kind: 'boolean', default: false, withNegated: false, brief: 'Only the newest' },
      terminal: terminalFlag,
      status: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Tell whether each still waits to be restored; --terminal tells it too',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'List handovers, newest first' },
});
