import type { Fact } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';

/** What somebody stated about a fact after it was sealed. Of several marks the last one counts. */
export interface Mark {
  mark: 'pinned' | 'unpinned' | 'resolved' | 'refuted';
  at: string;
  because: string | null;
  /** A pinned fact as it was, with the handover that has it; null when that is gone. */
  pinnedFact: { fact: Fact; by: Handover } | null;
}

export const MARKS = ['pinned', 'unpinned', 'resolved', 'refuted'] as const satisfies readonly Mark['mark'][];

/** The marks of a project, by the id of the fact. */
export type Marks = ReadonlyMap<string, Mark>;

export const NO_MARKS: Marks = new Map();

/** Where and when facts were stated: shows whether they were stated again after they were marked. */
export type StatedIn = Pick<Handover, 'session'> & { created_at?: string };

/** The facts with their marks applied: without resolved ones, unless they were stated again since. */
export function markFacts(facts: readonly Fact[], stated: StatedIn, marks: Marks): Fact[] {
  if (marks.size === 0) return [...facts];
  return facts.flatMap((fact) => {
    const mark = findMark(fact, stated, marks);
    if (mark === undefined) return [fact];
    return mark.mark === 'resolved' ? [] : [applyMark(fact, mark)];
  });
}

/** The mark that applies to a fact as it is stated here. */
export function findMark(fact: Fact, stated: StatedIn, marks: Marks): Mark | undefined {
  const mark = marks.get(fact.id);
  return mark === undefined || isStatedAgain(fact, stated, mark) ? undefined : mark;
}

/**
 * A resolved fact is open again when a later session, or somebody by hand, states it again. A refuted one stays refuted
 * until a human states it: the mark is there for agents that have the same idea again.
 */
function isStatedAgain(fact: Fact, { session, created_at }: StatedIn, { mark, at }: Mark): boolean {
  if (mark === 'pinned' || isCarriedOver(fact)) return false;
  if (mark === 'refuted' && fact.origin !== 'human') return false;
  const statedAt = session.started_at ?? created_at;
  return statedAt !== undefined && statedAt > at;
}

/** Whether it was stated in an earlier session and only carried over. */
export function isCarriedOver({ trust, sources: [source] }: Fact): boolean {
  if (source?.session !== undefined) return true;
  return trust === 'declared' && source?.ref !== undefined;
}

function applyMark({ pinned: _, ...fact }: Fact, { mark, because }: Mark): Fact {
  if (mark === 'pinned') return { ...fact, pinned: true };
  if (mark !== 'refuted') return fact;
  return { ...fact, status: REFUTED, ...(because === null ? {} : { detail: { ...fact.detail, because } }) };
}

const REFUTED = 'refuted';

/** Whether it was tried and did not work. */
export function isRefuted({ status }: Fact): boolean {
  return status === REFUTED;
}

/** The facts that are pinned in the project and are not among these. */
export function listPinnedElsewhere(facts: readonly Fact[], marks: Marks): { fact: Fact; by: Handover }[] {
  const here = new Set(facts.map((fact) => fact.id));
  return [...marks]
    .filter(([id, { mark }]) => mark === 'pinned' && !here.has(id))
    .flatMap(([, { pinnedFact }]) => (pinnedFact === null ? [] : [pinnedFact]));
}
