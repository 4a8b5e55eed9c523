import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface SessionsFlags {
  agent?: string;
  project?: string;
  since?: string;
  limit?: string;
  line?: string;
  json: boolean;
}

const text = (input: string): string => input;

export const sessions: Command<CliContext> = buildCommand<SessionsFlags, [string?], CliContext>({
  loader: async () => (await import('./sessions.run.ts')).runSessions,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: text,
          optional: true,
          brief: 'Show what was said in the session with this id, without secrets',
          placeholder: 'id',
        },
      ],
    },
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
      line: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Of the session that is shown, only what stands around this line',
        placeholder: 'number',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: {
    brief: 'List the sessions that agents keep on this machine, newest first, or show the text of one',
  },
});
