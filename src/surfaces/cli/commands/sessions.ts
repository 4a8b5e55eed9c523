import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface SessionsFlags {
  agent?: string;
  project?: string;
  since?: string;
  limit?: string;
  json: boolean;
}

const text = (input: string): string => input;

export const sessions: Command<CliContext> = buildCommand<SessionsFlags, [], CliContext>({
  loader: async () => (await import('./sessions.run.ts')).runSessions,
  parameters: {
    flags: {
      agent: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only of this agent',
        placeholder: 'name',
      },
      project: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only of the project in this folder',
        placeholder: 'folder',
      },
      since: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only changed since then: 2h, 7d, 2026-01-31',
        placeholder: 'time',
      },
      limit: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'At most so many; 0 for all',
        placeholder: 'count',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'List the sessions that agents keep on this machine, newest first' },
});
