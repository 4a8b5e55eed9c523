import { HandoverError } from '../../errors.ts';
import { cleanLine, cutAtWord } from '../../model/text.ts';
import { identifyProject } from '../../platform/project.ts';
import type { Filter } from '../../store/catalog.ts';
import type { CliContext } from './context.ts';
import { filterFlags, toFilter } from './filters.ts';
import { conflictError, type FlagValues, json, toggle } from './flags.ts';

const { agent, since, limit } = filterFlags;

/** The flags of `why`, `errors`, `files` and `timeline`. */
export const questionFlags = {
  agent,
  project: { ...filterFlags.project, brief: 'About this project instead: folder, name or id' },
  all: toggle('About all projects'),
  since,
  limit,
  json,
} as const;

export type QuestionFlags = FlagValues<typeof questionFlags>;

/** The handovers a question is about: those of this project, unless the flags say otherwise. */
export async function toScope(flags: QuestionFlags, { machine }: CliContext): Promise<Filter> {
  if (flags.all && flags.project !== undefined) throw conflictError('--all', '--project');
  const filter = await toFilter(flags, machine);
  if (flags.all || flags.project !== undefined) return filter;
  return { ...filter, project: { id: identifyProject('.', machine).id } };
}

/** What to type when nothing was found. */
export function suggestWider(flags: QuestionFlags, command: string): string {
  if (!flags.all) return `ask about all projects: handover ${command} --all; list handovers: handover list`;
  return 'list handovers: handover list; capture the newest session: handover capture';
}

export function requireWords(words: string, what: string): string {
  if (words.trim() !== '') return words;
  throw new HandoverError('HANDOVER_USAGE', `${what} is empty`, { hint: `Pass ${what}.` });
}

const MAX_TEXT_BYTES = 300;

/** A text of any length as one line of a list. */
export function shorten(text: string): string {
  return cutAtWord(cleanLine(text), MAX_TEXT_BYTES);
}

/** The command that shows where a fact came from. */
export function openFact(handover: string, fact: string): string {
  return `handover show ${handover} --events ${fact}`;
}
