import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

export interface SaveFlags {
  title?: string;
  summary?: string;
  goal?: readonly string[];
  next?: readonly string[];
  decision?: readonly string[];
  constraint?: readonly string[];
  rejected?: readonly string[];
  blocker?: readonly string[];
  question?: readonly string[];
  note?: readonly string[];
  file?: readonly string[];
  pin?: readonly string[];
  agent?: string;
  tool?: string;
  project?: string;
  by?: 'human' | 'agent';
  json: boolean;
}

const text = (input: string): string => input;
const one = (brief: string, placeholder = 'text') =>
  ({ kind: 'parsed', parse: text, optional: true, brief, placeholder }) as const;
const many = (brief: string, placeholder = 'text') =>
  ({ kind: 'parsed', parse: text, optional: true, variadic: true, brief, placeholder }) as const;

export const save: Command<CliContext> = buildCommand<SaveFlags, [], CliContext>({
  loader: async () => (await import('./save.run.ts')).runSave,
  parameters: {
    flags: {
      title: one('What it is about; the first line of the summary if left out'),
      summary: one('Where things stand; - reads it from standard input'),
      goal: many('What the work is for'),
      next: many('What to do next; - reads one step a line from standard input'),
      decision: many('What was decided'),
      constraint: many('What must hold'),
      rejected: many('What was tried or considered and is not to be done, and why'),
      blocker: many('What stands in the way'),
      question: many('What is still to be answered'),
      note: many('Anything else worth knowing'),
      file: many('A file that matters', 'path'),
      pin: {
        ...many('A note that is in every brief; without text, pins all that is said here'),
        inferEmpty: true,
      },
      agent: one('The agent whose session this is', 'name'),
      tool: { ...one('The same as --agent', 'name'), hidden: true },
      project: one('The project’s folder; this one if left out', 'folder'),
      by: {
        kind: 'enum',
        values: ['human', 'agent'],
        optional: true,
        brief: 'Who says it; told by the surroundings if left out',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Keep a handover written by hand' },
});
