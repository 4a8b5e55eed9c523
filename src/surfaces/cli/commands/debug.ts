import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { terminalFlag } from '../terminal-flag.ts';

export interface DebugFlags {
  terminal?: string;
  json: boolean;
}

export const debug: Command<CliContext> = buildCommand<DebugFlags, [], CliContext>({
  loader: async () => (await import('./debug.run.ts')).runDebug,
  parameters: {
    flags: {
      terminal: terminalFlag,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Tell what restore would do here, and why' },
});
