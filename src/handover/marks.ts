import { type Fact, readTold } from '../model/fact.ts';
import { isUnresolved } from '../model/fact-roles.ts';
import type { Handover } from '../model/handover.ts';
import { isSavedByHand } from '../model/time.ts';

/** What somebody stated about a fact after it was sealed. Of several marks the last one counts. */
export interface Mark {
  mark: 'pinned' | 'unpinned' | 'resolved' | 'refuted';
  at: string;
  because: string | null;
  /** A pinned fact as it was, with the handover that has it; null when that is gone. */
  pinnedFact: { fact: Fact; by: Handover } | null;
  /** How the fact had ended before it was pinned or unpinned. */
  ended?: Mark;
}

export const MARKS = ['pinned', 'unpinned', 'resolved', 'refuted'] as const satisfies readonly Mark['mark'][];

const ENDING: ReadonlySet<string | undefined> = new Set<Mark['mark']>(['resolved', 'refuted']);

/** Whether a mark says that the fact is done, or did not work. */
export function isEnding(mark: string | undefined): boolean {
  return ENDING.has(mark);
}

/** The mark after another one: pinning and unpinning do not undo that a fact was resolved or refuted. */
export function followMark(before: Mark | undefined, mark: Mark): Mark {
  const ended = isEnding(before?.mark) ? before : before?.ended;
  return isEnding(mark.mark) || ended === undefined ? mark : { ...mark, ended };
}

/** The marks of a project, by the id of the fact. */
export type Marks = ReadonlyMap<string, Mark>;

export const NO_MARKS: Marks = new Map();

/** Where and when facts were stated: shows whether they were stated again after they were marked. */
export type StatedIn = Pick<Handover, 'session' | 'noted_at'> & { created_at?: string };

/** The facts with their marks applied: without resolved ones, unless they were stated again since, which is then kept with them. */
export function markFacts(facts: readonly Fact[], stated: StatedIn, marks: Marks): Fact[] {
  return facts.filter(isUnresolved).flatMap((fact) => {
    const last = marks.get(fact.id);
    if (last === undefined) return [fact];
    const mark = findMark(fact, stated, marks);
    if (mark?.mark === 'resolved') return [];
    const isOpen = mark === undefined || (last.ended !== undefined && mark !== last.ended);
    const kept = isOpen ? keepTime(fact, timeOfStatement(fact, stated)) : fact;
    const marked = mark === undefined ? kept : applyMark(kept, mark);
    return [last.mark === 'pinned' ? { ...marked, pinned: true } : marked];
  });
}

/** The facts with how they ended as their status, as others are told it. */
export function stateMarks(facts: readonly Fact[], stated: StatedIn, marks: Marks): Fact[] {
  return facts.map((fact) => {
    const mark = findMark(fact, stated, marks);
    return mark === undefined || !isEnding(mark.mark) ? fact : applyMark(fact, mark);
  });
}

/** The fact with the time when it was stated, which a handover that it is carried into does not show. */
export function keepTime(fact: Fact, at: string | undefined): Fact {
  return at === undefined ? fact : { ...fact, detail: { ...fact.detail, [STATED_AT]: at } };
}

/** The name of that time among the details of a fact. */
export const STATED_AT = 'stated_at';

/** The mark that applies to a fact as it is stated here: how it ended, before whether it is pinned. */
export function findMark(fact: Fact, stated: StatedIn, marks: Marks): Mark | undefined {
  const last = marks.get(fact.id);
  return [last?.ended, last].find((mark) => mark !== undefined && !isStatedAgain(fact, stated, mark));
}

/**
 * A resolved fact is open again when a later session, or somebody by hand, states it again. A refuted one stays refuted
 * until a human states it: the mark is there for agents that have the same idea again.
 */
function isStatedAgain(fact: Fact, stated: StatedIn, { mark, at }: Mark): boolean {
  if (mark === 'pinned' || (mark === 'refuted' && fact.origin !== 'human')) return false;
  return (timeOfStatement(fact, stated) ?? '') > at;
}

function timeOfStatement(fact: Fact, stated: StatedIn): string | undefined {
  const known = fact.detail?.[STATED_AT];
  if (typeof known === 'string') return known;
  if (isCarriedOver(fact)) return undefined;
  const { session, created_at } = stated;
  return fact.trust === 'declared' || isNote(fact, stated) ? created_at : (session.started_at ?? created_at);
}

/** Whether it was stated in an earlier session and only carried over. */
export function isCarriedOver({ trust, sources: [source] }: Fact): boolean {
  if (source?.session !== undefined) return true;
  return trust === 'declared' && source?.ref !== undefined;
}

/** Whether it was added by hand in this very handover, to the work of a session. */
export function isNote(fact: Fact, stated: Pick<StatedIn, 'noted_at' | 'created_at'>): boolean {
  if (!isSavedByHand(stated)) return false;
  return (readTold(fact) ?? fact).trust === 'declared'
    ? !isCarriedOver(fact)
    : fact.sources[0]?.ref?.startsWith(VERIFIED) === true;
}

/** Begins the source of what was seen when somebody ran a check of a session again. */
export const VERIFIED = 'verified ';
/** What a check that was run again by hand keeps among its details: the digest of the code that it ran on. */
export const RAN_ON = 'ran_on';
/** The same of one that was not run again: what had changed before others were. */
export const OUTDATED = 'outdated';

function applyMark({ pinned: _, ...fact }: Fact, { mark, because }: Mark): Fact {
  if (!isEnding(mark)) return fact;
  return { ...fact, status: mark, ...(because === null ? {} : { detail: { ...fact.detail, because } }) };
}

/** Whether it was tried and did not work. */
export function isRefuted({ status }: Fact): boolean {
  return status === 'refuted';
}

/** The facts that are pinned in the project, are not resolved and are not among these. */
export function listPinnedElsewhere(facts: readonly Fact[], marks: Marks): { fact: Fact; by: Handover }[] {
  const here = new Set(facts.map((fact) => fact.id));
  return [...marks]
    .filter(([id, { mark }]) => mark === 'pinned' && !here.has(id))
    .flatMap(([, { pinnedFact }]) => {
      if (pinnedFact === null) return [];
      const { fact, by } = pinnedFact;
      return markFacts([fact], by, marks).map((marked) => ({ fact: marked, by }));
    });
}
