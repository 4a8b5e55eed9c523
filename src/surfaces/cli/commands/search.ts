import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface SearchFlags {
  kind?: readonly string[];
  agent?: string;
  project?: string;
  since?: string;
  file?: string;
  sessions: boolean;
  embed: boolean;
  limit?: string;
  json: boolean;
}

const text = (input: string): string => input;

export const search: Command<CliContext> = buildCommand<SearchFlags, string[], CliContext>({
  loader: async () => (await import('./search.run.ts')).runSearch,
  parameters: {
    positional: {
      kind: 'array',
      parameter: { parse: text, brief: 'What to look for, in any words', placeholder: 'query' },
    },
    flags: {
      kind: {
        kind: 'parsed',
        parse: text,
        optional: true,
        variadic: ',',
        brief: 'Only facts of this kind: decision, error, file, next, … Several with commas',
        placeholder: 'kind',
      },
      agent: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only from this agent',
        placeholder: 'name',
      },
      project: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief:
          'Only of this project: folder, name or id. Without it all are searched, the one you are in ahead',
        placeholder: 'project',
      },
      since: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only from then on: 2h, 7d, 2026-01-31',
        placeholder: 'time',
      },
      file: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only what names this file: a path or the end of one',
        placeholder: 'path',
      },
      sessions: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Also the text of the sessions that agents keep on this machine',
      },
      embed: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief:
          'Send every fact that was not yet to the model of [search.meaning] first, instead of a few with each search',
      },
      limit: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'At most so many; 10 if left out',
        placeholder: 'count',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Find facts, handovers and notes by any words' },
});
