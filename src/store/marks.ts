import { type HandoverError, usageError } from '../errors.ts';
import { limitBytes } from '../handover/declare.ts';
import { markHandover } from '../handover/link.ts';
import { findMark, followMark, MARKS, type Mark, type Marks } from '../handover/marks.ts';
import type { Fact } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import type { JournalEntry, JournalEvent } from '../model/journal-entry.ts';
import { cleanLine, cleanText, quoteForShell } from '../model/text.ts';
import { listAliases } from '../platform/known-projects.ts';
import { type CatalogRow, describeRow } from './catalog.ts';
import { hasHandover, readIntact } from './handovers.ts';
import { noteLate, readLate } from './held-tasks.ts';
import { appendEntry, compareEntries, parseEntry } from './journal.ts';
import { readMarkLines } from './mark-lines.ts';
import { EVENT_AT, type Store } from './store.ts';

export function readMarks(store: Store, project: string): Marks {
  const marks = new Map<string, Mark>();
  const holders = new Map<string, string>();
  const ids = new Set<unknown>(listAliases(store.machine, project));
  const lines = readMarkLines(store);
  const isForgotten = openForgottenSearch(store, lines);
  for (const { event, fact, subject, at, reason, detail } of parseMarks(lines)) {
    const mark = MARKS.find((known) => known === event);
    if (mark === undefined || fact === undefined || !ids.has(detail?.project)) continue;
    const because = reason === undefined || isForgotten(subject) ? null : reason;
    marks.set(fact, followMark(marks.get(fact), { mark, at, because, pinnedFact: null }));
    holders.set(fact, subject);
  }
  for (const [id, mark] of marks)
    if (mark.mark === 'pinned') mark.pinnedFact = findPinnedFact(store, holders.get(id) ?? '', id);
  return marks;
}

/** In the order that every store agrees on: of several marks of a fact, the last one counts. */
function parseMarks(lines: readonly string[]): JournalEntry[] {
  return lines
    .filter((line) => !isEvent(line, 'late') && !isEvent(line, 'forgotten'))
    .flatMap((line) => parseEntry(Buffer.from(line)) ?? [])
    .sort(compareEntries);
}

function isEvent(line: string, event: JournalEvent): boolean {
  return line.startsWith(`${event}"`, EVENT_AT);
}

/**
 * Whether a handover was forgotten, for the reasons of its marks: they are not shown any more, and not sent, so stores that
 * heard of a mark before and after agree. One that `cleanup` removed was not.
 */
function openForgottenSearch(store: Store, lines: readonly string[]): (id: string) => boolean {
  let forgotten: ReadonlySet<string> | null = null;
  return (id) => {
    forgotten ??= new Set(
      lines
        .filter((line) => isEvent(line, 'forgotten'))
        .flatMap((line) => parseEntry(Buffer.from(line)) ?? [])
        .flatMap(({ subject, detail }) => (detail?.expired === true ? [] : [subject])),
    );
    return forgotten.has(id) && !hasHandover(store, id);
  };
}

/** Reads the marks of each project once. */
export function rememberMarks(store: Store): (project: string) => Marks {
  const known = new Map<string, Marks>();
  return (project) => {
    const marks = known.get(project) ?? readMarks(store, project);
    known.set(project, marks);
    return marks;
  };
}

/** The last mark of every marked fact in the store, by `nameFact`, and the handover that it was set in. */
export function listMarked(store: Store): Map<string, { mark: Mark['mark']; handover: string }> {
  const marked = new Map<string, { mark: Mark['mark']; handover: string }>();
  for (const { event, fact, subject, detail } of parseMarks(readMarkLines(store))) {
    const mark = MARKS.find((known) => known === event);
    if (mark !== undefined && fact !== undefined)
      marked.set(nameFact(String(detail?.project), fact), { mark, handover: subject });
  }
  return marked;
}

/** A fact is the same in all of its project. */
export function nameFact(project: string, fact: string): string {
  return `${project}\n${fact}`;
}

function findPinnedFact(store: Store, holder: string, id: string): Mark['pinnedFact'] {
  const by = readIntact(store, holder);
  const fact = by?.facts.find((one) => one.id === id);
  return by === null || fact === undefined ? null : { fact, by };
}

/** A handover with its marks applied, for showing. */
export function readMarked(store: Store, handover: Handover): Handover {
  const marked = markHandover(handover, readMarks(store, handover.project.id));
  return noteLate(marked, readLate(store).get(handover.id));
}

/** The next steps of a handover that are still open, as lists show them. */
export function listOpenSteps(store: Store, { id, next }: Pick<CatalogRow, 'id' | 'next'>, marks: Marks): string[] {
  const handover = marks.size === 0 ? null : readIntact(store, id);
  return handover === null ? next : describeRow(markHandover(handover, marks)).next;
}

export type MarkRequest = { mark: Mark['mark']; because: string | null; by: 'human' | 'agent' };

const MAX_BECAUSE_BYTES = 2000;

/** Marks a fact of a handover, for all of its project. False when it has this mark already. */
export function markFact(
  store: Store,
  { handover, fact }: { handover: Handover; fact: Fact },
  { mark, because, by }: MarkRequest,
): boolean {
  const reason = because === null ? null : cleanBecause(because);
  const project = handover.project.id;
  const marks = readMarks(store, project);
  if (mark === 'pinned' && findMark(fact, handover, marks)?.mark === 'resolved') throw resolvedError(fact);
  const last = marks.get(fact.id);
  const before = [last?.ended, last].find((known) => known?.mark === mark);
  if (before?.because === reason && (mark !== 'pinned' || before.pinnedFact !== null)) return false;
  appendEntry(store, {
    event: mark,
    subject: handover.id,
    fact: fact.id,
    ...(reason === null ? {} : { reason }),
    detail: { project, by },
  });
  return true;
}

function resolvedError({ id, text }: Fact): HandoverError {
  const words = quoteForShell(cleanLine(text));
  return usageError(`${id} is resolved, and a pin does not open it again`, `handover save --pin ${words}`);
}

function cleanBecause(text: string): string {
  const cleaned = limitBytes(cleanText(text).trim(), MAX_BECAUSE_BYTES, 'the reason');
  if (cleaned === '') throw usageError('the reason is empty', 'Pass some text with --because.');
  return cleaned;
}
