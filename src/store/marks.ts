import { HandoverError } from '../errors.ts';
import { limitBytes } from '../handover/declare.ts';
import { markHandover } from '../handover/link.ts';
import { MARKS, type Mark, type Marks } from '../handover/marks.ts';
import type { Fact } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import type { JournalEntry } from '../model/journal-entry.ts';
import { cleanText } from '../model/text.ts';
import { readIntact } from './handovers.ts';
import { appendEntry, readEntriesOf } from './journal.ts';
import type { Store } from './store.ts';

export function readMarks(store: Store, project: string): Marks {
  const last = new Map<string, JournalEntry>();
  for (const entry of readEntriesOf(store, MARKS))
    if (entry.fact !== undefined && entry.detail?.project === project) last.set(entry.fact, entry);
  const marks = new Map<string, Mark>();
  for (const [id, { event, subject, at, reason }] of last) {
    const mark = MARKS.find((known) => known === event);
    if (mark === undefined) continue;
    const pinnedFact = mark === 'pinned' ? findPinnedFact(store, subject, id) : null;
    marks.set(id, { mark, at, because: reason ?? null, pinnedFact });
  }
  return marks;
}

/** The last mark of every marked fact in the store, by `nameFact`, and the handover that it was set in. */
export function listMarked(store: Store): Map<string, { mark: Mark['mark']; handover: string }> {
  const marked = new Map<string, { mark: Mark['mark']; handover: string }>();
  for (const { event, fact, subject, detail } of readEntriesOf(store, MARKS)) {
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
  return markHandover(handover, readMarks(store, handover.project.id));
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
  const before = readMarks(store, project).get(fact.id);
  if (before?.mark === mark && before.because === reason && (mark !== 'pinned' || before.pinnedFact !== null))
    return false;
  appendEntry(store, {
    event: mark,
    subject: handover.id,
    fact: fact.id,
    ...(reason === null ? {} : { reason }),
    detail: { project, by },
  });
  return true;
}

function cleanBecause(text: string): string {
  const cleaned = limitBytes(cleanText(text).trim(), MAX_BECAUSE_BYTES, 'the reason');
  if (cleaned === '')
    throw new HandoverError('HANDOVER_USAGE', 'the reason is empty', { hint: 'Pass some text with --because.' });
  return cleaned;
}
