import { buildCommand, type Command } from '@stricli/core';
import type { ViewFormat } from '../../../exchange/bundle/write-view.ts';
import type { CliContext } from '../context.ts';
import { type PassphraseFlags, passphraseFlags } from '../passphrase.ts';

const EXPORT_FORMATS = [
  'bundle',
  'markdown',
  'json',
  'session-handoff',
  'v2',
] as const satisfies readonly ExportFormat[];
type ExportFormat = 'bundle' | ViewFormat;

export interface ExportFlags extends PassphraseFlags {
  id?: readonly string[];
  all: boolean;
  since?: string;
  format: ExportFormat;
  target?: string;
  output: string;
  sign: boolean;
  encryptTo?: readonly string[];
  askPassphrase: boolean;
  expires?: string;
  only?: string;
  dryRun: boolean;
  json: boolean;
}

const text = (input: string): string => input;

export const exportCommand: Command<CliContext> = buildCommand<ExportFlags, [], CliContext>({
  loader: async () => (await import('./export.run.ts')).runExport,
  parameters: {
    flags: {
      id: {
        kind: 'parsed',
        parse: text,
        optional: true,
        variadic: true,
        brief: 'Which one: an id, the beginning of one, or latest (the newest of this project)',
        placeholder: 'id',
      },
      all: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'All that were made here, of every project',
      },
      since: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Those of this project from then on: 2h, 7d, 2026-01-31',
        placeholder: 'time',
      },
      format: { kind: 'enum', values: EXPORT_FORMATS, default: 'bundle', brief: 'What to write' },
      target: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'With markdown: the agent that will read it',
        placeholder: 'agent',
      },
      output: {
        kind: 'parsed',
        parse: text,
        default: '-',
        brief: 'The file to write; - is standard output',
        placeholder: 'file',
      },
      sign: { kind: 'boolean', default: false, withNegated: false, brief: 'Sign it with your key' },
      encryptTo: {
        kind: 'parsed',
        parse: text,
        optional: true,
        variadic: true,
        brief: 'Lock it for the owner of this age key',
        placeholder: 'recipient',
      },
      askPassphrase: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Lock it with a passphrase, asked for in the terminal',
      },
      ...passphraseFlags,
      expires: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Nobody imports it later than this: 7d, 2026-12-31',
        placeholder: 'time',
      },
      only: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only facts of these kinds: goal,decision,next',
        placeholder: 'kinds',
      },
      dryRun: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Show what would leave, and write nothing',
      },
      json: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Print JSON about what was written',
      },
    },
  },
  docs: { brief: 'Pack handovers for another machine or person' },
});
