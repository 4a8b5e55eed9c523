import { buildCommand, type Command } from '@stricli/core';
import { HandoverError } from '../../../errors.ts';
import { DECLARABLE_KINDS, type Declaration, declareHandover } from '../../../handover/declare.ts';
import { sealRated } from '../../../handover/seal.ts';
import { describePlace } from '../../../platform/place.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import { redactDraft } from '../../../redact/redact-draft.ts';
import { keepNewHandover } from '../../../store/handovers.ts';
import { detectAgent } from '../agents.ts';
import { type CliContext, findStore, noteJournalFailure, refuseBoth } from '../context.ts';
import { bold } from '../output.ts';

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
  func: runSave,
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

const MAX_INPUT_BYTES = 2 * 1024 * 1024;

export function runSave(this: CliContext, flags: SaveFlags): void {
  const declaration = readDeclaration(this, flags);
  const place = describePlace(flags.project ?? '.', this.machine);
  const redactor = openRedactor(this.machine, { folder: place.root, makesKey: true });
  const draft = redactDraft(declareHandover(declaration, place, this.machine), redactor);
  const store = findStore(this);
  const kept = keepNewHandover(store, (stamp) => sealRated({ ...draft, ...stamp }));
  const { handover, path } = kept;
  noteJournalFailure(this, kept);
  if (flags.json)
    this.out.json({ id: handover.id, created_at: handover.created_at, path, facts: handover.facts.length });
  else this.out.line('saved handover ', bold(handover.id));
}

function readDeclaration(context: CliContext, flags: SaveFlags): Declaration {
  if (flags.summary === '-' && flags.next?.includes('-')) throw refuseBoth('--summary -', '--next -');
  const pins = flags.pin ?? [];
  const declaration: Declaration = {
    title: flags.title,
    summary: flags.summary === '-' ? readInputText(context) : (flags.summary ?? ''),
    agent: flags.agent ?? flags.tool ?? detectAgent(context.machine.env) ?? 'manual',
    by: flags.by ?? (detectAgent(context.machine.env) === null ? 'human' : 'agent'),
    sessionId: null,
    facts: DECLARABLE_KINDS.flatMap((kind) =>
      readTexts(context, kind, flags[kind] ?? []).map((text) => ({ kind, text })),
    ),
    files: [...(flags.file ?? [])],
    pins: pins.filter((pin) => pin !== ''),
    pinAll: pins.includes(''),
  };
  assertSaysSomething(declaration);
  return declaration;
}

function readTexts(context: CliContext, kind: string, texts: readonly string[]): string[] {
  if (kind !== 'next') return [...texts];
  return texts.flatMap((text) => (text === '-' ? splitSteps(readInputText(context)) : [text]));
}

/** One step a line; the marks of a list are not part of a step. */
function splitSteps(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, '').trim())
    .filter((line) => line !== '');
}

function readInputText(context: CliContext): string {
  const text = context.readInput(MAX_INPUT_BYTES);
  if (text !== null) return text;
  throw new HandoverError(
    'HANDOVER_TEXT_TOO_LARGE',
    `standard input has more than ${MAX_INPUT_BYTES} bytes`,
    {
      hint: 'Save a shorter text, and name the long one with --file.',
    },
  );
}

function assertSaysSomething(declaration: Declaration): void {
  const { title, summary, facts, files, pins } = declaration;
  const texts = [title ?? '', summary, ...facts.map((fact) => fact.text), ...files, ...pins];
  if (texts.some((text) => text.trim() !== '')) return;
  throw new HandoverError('HANDOVER_USAGE', 'there is nothing to save', {
    hint: 'handover save --summary "where things stand" --next "what to do next"',
  });
}
