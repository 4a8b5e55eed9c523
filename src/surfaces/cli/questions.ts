import type { UncapturedAnswer, UncapturedQuestion } from '../../app/ask/uncaptured.ts';
import { findStore } from '../../app/context.ts';
import { bold, dim } from '../../app/describe/styled-text.ts';
import { suggestNext } from '../../app/find-handover.ts';
import { usageError } from '../../errors.ts';
import { cleanLine, countNouns, cutAtWord } from '../../model/text.ts';
import { describeAge } from '../../model/time.ts';
import { identifyProject } from '../../platform/project.ts';
import type { Filter } from '../../store/catalog.ts';
import type { CliContext } from './context.ts';
import { filterFlags, toFilter, writeCommand } from './filters.ts';
import { conflictError, type FlagValues, json, toggle } from './flags.ts';

const { agent, since, limit } = filterFlags;

/** The flags of `why`, `errors`, `files`, `timeline` and `debt`. */
export const askFlags = {
  agent,
  project: { ...filterFlags.project, brief: 'About this project instead: folder, name or id' },
  all: toggle('All projects'),
  since,
  limit,
  json,
} as const;

export type AskFlags = FlagValues<typeof askFlags>;

/** The handovers a question is about: those of this project, unless the flags say otherwise. */
export async function toScope(flags: AskFlags, context: CliContext): Promise<Filter> {
  if (flags.all && flags.project !== undefined) throw conflictError('--all', '--project');
  const filter = await toFilter(flags, context);
  if (flags.all || flags.project !== undefined) return filter;
  return { ...filter, project: { id: identifyProject('.', context.machine).id } };
}

/** Tells the user what to type where a question found nothing. */
export async function printNext({ machine, err }: CliContext, flags: AskFlags, command: string): Promise<void> {
  const wider = flags.all ? undefined : writeCommand(command, { ...flags, project: undefined, all: true });
  const folder = flags.all ? undefined : (flags.project ?? '.');
  err.line(dim('next: '), await suggestNext(findStore({ machine }), { folder, wider }));
}

export function requireWords(words: string, what: string): string {
  if (words.trim() !== '') return words;
  throw usageError(`${what} is empty`, `Pass ${what}.`);
}

/** Asks the sessions that were never captured; notifies the user when not all of them are indexed. */
export async function askUncapturedSessions(
  context: CliContext,
  question: UncapturedQuestion,
): Promise<UncapturedAnswer> {
  const { askUncaptured, listIndexStateNotices } = await import('../../app/ask/uncaptured.ts');
  const answer = await askUncaptured(findStore(context), question);
  for (const notice of listIndexStateNotices(answer.index)) context.notify(notice);
  return answer;
}

export function uncapturedToJson({ sessions, texts, hasMore, index }: UncapturedAnswer) {
  return { uncaptured: sessions, captured_texts: texts, uncaptured_has_more: hasMore, session_index: index };
}

/** `all` is the command that shows all sessions. */
export function printUncaptured(
  { out, err, machine }: CliContext,
  { sessions, texts, hasMore }: UncapturedAnswer,
  all: string,
): void {
  for (const found of [...texts, ...sessions]) {
    const { session, agent, title, project, at, passages, more, open } = found;
    const origin = texts.includes(found) ? 'from the text of a captured session' : 'from a session, not captured';
    const age = describeAge(machine.clock.now() - Date.parse(passages[0]?.at ?? at));
    out.line(bold(session), `  ${agent.padEnd(12)}  ${shorten(title ?? '')}`);
    out.line(dim(`  ${project === null ? '' : `${project.name}, `}${age}, ${origin}`));
    for (const { line, speaker, text } of passages) out.line(dim(`  line ${line}, ${speaker}: `), shorten(text));
    if (more > 0) out.line(dim(`  and ${countNouns(more, 'more passage')}`));
    out.line(dim(`  see it: ${passages[0]?.open ?? open}`));
  }
  if (hasMore) err.line(dim(`there are more sessions with passages; show all: ${all}`));
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
