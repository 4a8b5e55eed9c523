import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface PauseFlags {
  why?: string;
  everywhere: boolean;
  json: boolean;
}

const everywhere = {
  kind: 'boolean',
  default: false,
  withNegated: false,
  brief: 'All projects of yours, by ~/.agent_handover/PAUSE',
} as const;
const json = { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' } as const;

export const pause: Command<CliContext> = buildCommand<PauseFlags, [], CliContext>({
  loader: async () => (await import('./pause.run.ts')).runPause,
  parameters: {
    flags: {
      why: {
        kind: 'parsed',
        parse: (input: string): string => input,
        optional: true,
        brief: 'The reason, shown to whoever is stopped',
        placeholder: 'text',
      },
      everywhere,
      json,
    },
  },
  docs: { brief: 'Stop all that writes by itself in this project' },
});

export const unpause: Command<CliContext> = buildCommand<Omit<PauseFlags, 'why'>, [], CliContext>({
  loader: async () => (await import('./pause.run.ts')).runUnpause,
  parameters: { flags: { everywhere, json } },
  docs: { brief: 'Let it write again' },
});
