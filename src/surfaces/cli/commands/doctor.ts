import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface DoctorFlags {
  fix: boolean;
  json: boolean;
}

export const doctor: Command<CliContext> = buildCommand<DoctorFlags, [], CliContext>({
  loader: async () => (await import('./doctor.run.ts')).runDoctor,
  parameters: {
    flags: {
      fix: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Put right what can be put right safely',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Check everything that is kept' },
});
