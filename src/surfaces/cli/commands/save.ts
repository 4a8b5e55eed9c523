import { detectAgent } from '../../../app/context.ts';
import { bold } from '../../../app/describe/styled-text.ts';
import { saveDeclaration, splitSteps } from '../../../app/save.ts';
import { nameAgent } from '../../../handover/brief/reader.ts';
import { DECLARABLE_KINDS, type Declaration } from '../../../handover/declare.ts';
import { NO_AGENT } from '../../../model/fact-roles.ts';
import type { CliContext } from '../context.ts';
import { command, conflictError, type FlagValues, json, readInputText, repeated, text, texts } from '../flags.ts';

const flags = {
  title: text('A title; default: the first line of what is saved'),
  summary: text('Where things stand; - reads it from standard input'),
  goal: texts('What the work is for'),
  next: texts('What to do next; - reads one step a line from standard input'),
  decision: texts('What was decided'),
  constraint: texts('A rule to follow'),
  rejected: texts('What was tried or considered and should not be done, and why'),
  blocker: texts('What blocks the work'),
  question: texts('What is still to be answered'),
  note: texts('Anything else worth knowing'),
  file: texts('A file that matters', 'path'),
  pin: { ...texts('A note for every brief; without text, pins everything in this command'), inferEmpty: true },
  agent: text('The agent whose session this is', 'agent'),
  tool: { ...text('The same as --agent', 'name'), hidden: true },
  project: text('The project’s folder; default: this one', 'folder'),
  by: {
    kind: 'enum',
    values: ['human', 'agent'],
    optional: true,
    brief: 'Who states it; default: detected from the environment',
  },
  json,
} as const;
type SaveFlags = FlagValues<typeof flags>;

export const save = command('save', runSave, {
  positional: repeated('Where things stand, as --summary: the first line is the title', 'text'),
  flags,
});

async function runSave(this: CliContext, values: SaveFlags, ...words: string[]): Promise<void> {
  if (words.length > 0 && values.summary !== undefined) throw conflictError('a text', '--summary');
  const given = words.length === 0 ? values : { ...values, summary: words.join(' ') };
  const { handover, path } = await saveDeclaration(this, values.project ?? '.', await readDeclaration(this, given));
  const { id, created_at, facts } = handover;
  if (values.json) this.out.json({ id, created_at, path, facts: facts.length });
  else this.out.line('saved handover ', bold(id));
}

async function readDeclaration(context: CliContext, values: SaveFlags): Promise<Declaration> {
  if (values.summary === '-' && values.next?.includes('-')) throw conflictError('--summary -', '--next -');
  const pins = values.pin ?? [];
  const agent = detectAgent(context.machine.env);
  const readInput = (): string => readInputText(context, 'Save a shorter text, and name the long one with --file.');
  const steps = values.next?.includes('-') === true ? await splitSteps(context, readInput()) : [];
  return {
    title: values.title,
    summary: values.summary === '-' ? readInput() : (values.summary ?? ''),
    agent: nameAgent(values.agent ?? values.tool ?? agent ?? NO_AGENT),
    by: values.by ?? (agent === null ? 'human' : 'agent'),
    sessionId: null,
    facts: DECLARABLE_KINDS.flatMap((kind) =>
      (values[kind] ?? [])
        .flatMap((given) => (kind === 'next' && given === '-' ? steps : [given]))
        .map((words) => ({ kind, text: words })),
    ),
    files: [...(values.file ?? [])],
    pins: pins.filter((pin) => pin !== ''),
    pinAll: pins.includes(''),
  };
}
