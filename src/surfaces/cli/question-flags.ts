import { type FactSource, openFactSource } from '../../app/ask/session-summary.ts';
import { HandoverError } from '../../errors.ts';
import { cleanLine, cutAtWord } from '../../model/text.ts';
import { identifyProject } from '../../platform/project.ts';
import type { Filter } from '../../store/catalog.ts';
import { type CliContext, findStore, progressOf, refuseBoth } from './context.ts';
import { type FilterFlags, filterFlags, toFilter } from './filters.ts';
import { noteIndexFailure } from './search-notes.ts';

/** By what a question is narrowed or widened. */
export interface QuestionFlags extends Pick<FilterFlags, 'agent' | 'project' | 'since' | 'limit'> {
  all: boolean;
  json: boolean;
}

const { agent, since, limit } = filterFlags;

export const questionFlags = {
  agent,
  project: { ...filterFlags.project, brief: 'Of this project, not the one here: folder, name or id' },
  all: { kind: 'boolean', default: false, withNegated: false, brief: 'Of all projects' },
  since,
  limit,
  json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
} as const;

/** The handovers that are asked: those of this project, unless the flags say otherwise. */
export async function toScope(flags: QuestionFlags, context: CliContext): Promise<Filter> {
  const { machine } = context;
  if (flags.all && flags.project !== undefined) throw refuseBoth('--all', '--project');
  const filter = await toFilter(flags, machine);
  if (flags.all || flags.project !== undefined) return filter;
  return { ...filter, project: { id: identifyProject('.', machine).id } };
}

/** Opens what is kept to be asked about it, and closes it after use. */
export async function withFactSource<T>(
  context: CliContext,
  flags: QuestionFlags,
  ask: (source: FactSource) => Promise<T>,
): Promise<T> {
  const scope = await toScope(flags, context);
  const { openFinder } = await import('../../search/search.ts');
  const finder = await openFinder({ store: findStore(context), progress: progressOf(context, 'indexing') });
  noteIndexFailure(context, finder);
  try {
    return await ask(openFactSource(finder, scope));
  } finally {
    finder.close();
  }
}

/** What to type where nothing was found. */
export function widen(flags: QuestionFlags, command: string): string {
  if (!flags.all) return `of all projects: handover ${command} --all; what is kept: handover list`;
  return 'what is kept: handover list; make a handover of the newest session: handover capture';
}

export function requireWords(words: string, what: string): string {
  if (words.trim() !== '') return words;
  throw new HandoverError('HANDOVER_USAGE', `${what} is empty`, { hint: `Give ${what}.` });
}

const MAX_TEXT_BYTES = 300;

/** A text of any length as one line of a list. */
export function shorten(text: string): string {
  return cutAtWord(cleanLine(text), MAX_TEXT_BYTES);
}

/** The command that shows the words that a fact came from. */
export function openFact(handover: string, fact: string): string {
  return `handover show ${handover} --events ${fact}`;
}
