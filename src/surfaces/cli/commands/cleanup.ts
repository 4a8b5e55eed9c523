import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { terminalFlag } from '../terminal-flag.ts';

export interface CleanupFlags {
  terminal?: string;
  dryRun: boolean;
  json: boolean;
}

export const cleanup: Command<CliContext> = buildCommand<CleanupFlags, [], CliContext>({
  loader: async () => (await import('./cleanup.run.ts')).runCleanup,
  parameters: {
    flags: {
      terminal: terminalFlag,
      dryRun: { kind: 'boolean', default: false, withNegated: false, brief: 'Only say what would go' },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Delete what is older than HANDOFF_RETENTION_DAYS (90), but nothing pinned or latest' },
});
