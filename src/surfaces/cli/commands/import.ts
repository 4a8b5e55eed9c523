import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { type PassphraseFlags, passphraseFlags } from '../passphrase.ts';

export interface ImportFlags extends PassphraseFlags {
  input: string;
  onConflict: 'fail' | 'skip' | 'replace';
  trust?: string;
  identity?: string;
  allowUnsigned: boolean;
  allowOlder: boolean;
  dryRun: boolean;
  json: boolean;
}

const text = (input: string): string => input;

export const importCommand: Command<CliContext> = buildCommand<ImportFlags, [], CliContext>({
  loader: async () => (await import('./import.run.ts')).runImport,
  parameters: {
    flags: {
      input: {
        kind: 'parsed',
        parse: text,
        brief: 'The bundle; - reads standard input',
        placeholder: 'file',
      },
      onConflict: {
        kind: 'enum',
        values: ['fail', 'skip', 'replace'],
        default: 'fail',
        brief: 'When another handover is kept under an id',
      },
      trust: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'The public key of the sender, or its file: trusted from now on',
        placeholder: 'key',
      },
      identity: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'A file with an age identity that opens the bundle (your own key)',
        placeholder: 'file',
      },
      ...passphraseFlags,
      allowUnsigned: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Take what nobody vouches for',
      },
      allowOlder: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Take what is not newer than what came before',
      },
      dryRun: { kind: 'boolean', default: false, withNegated: false, brief: 'Only say what would be done' },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Take in a bundle of handovers, verified' },
});
