import { computeFactId, type Fact, type FactKind } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';

/** What somebody said of a fact after it was sealed. Of several the last one counts. */
export interface Mark {
  mark: 'pinned' | 'unpinned' | 'resolved' | 'refuted';
  at: string;
  because: string | null;
  /** A pinned fact as it was, with the handover that has it; null when that is gone. */
  held: { fact: Fact; by: Handover } | null;
}

export const MARKS = ['pinned', 'unpinned', 'resolved', 'refuted'] as const satisfies readonly Mark['mark'][];

/** The marks of a project, by the id of the fact. */
export type Marks = ReadonlyMap<string, Mark>;

export const NO_MARKS: Marks = new Map();

/** Where and when facts were told: by this it is known whether they were told again after they were marked. */
export type StatedIn = Pick<Handover, 'session'> & { created_at?: string };

/** The facts as they stand by their marks: without those that are resolved, unless they were told again since. */
export function markFacts(facts: readonly Fact[], telling: StatedIn, marks: Marks): Fact[] {
  if (marks.size === 0) return [...facts];
  return facts.flatMap((fact) => {
    const mark = findMark(fact, telling, marks);
    if (mark === undefined) return [fact];
    return mark.mark === 'resolved' ? [] : [applyMark(fact, mark)];
  });
}

/** The mark that counts for a fact as it is told here. */
export function findMark(fact: Fact, telling: StatedIn, marks: Marks): Mark | undefined {
  const mark = marks.get(fact.id);
  return mark === undefined || isStatedAgain(fact, telling, mark) ? undefined : mark;
}

/**
 * What was resolved is open again when a later session, or somebody by hand, tells it anew. What was refuted stays so
 * until a human says otherwise: that an agent has the same idea again is what the mark is for.
 */
function isStatedAgain(fact: Fact, { session, created_at }: StatedIn, { mark, at }: Mark): boolean {
  if (mark === 'pinned' || isTakenOver(fact)) return false;
  if (mark === 'refuted' && fact.origin !== 'human') return false;
  const told = session.started_at ?? created_at;
  return told !== undefined && told > at;
}

/** Whether it was told in an earlier session, and only stands on. */
export function isTakenOver({ trust, sources: [source] }: Fact): boolean {
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

/** The facts that are pinned in the project and are not told here. */
export function listPinnedElsewhere(facts: readonly Fact[], marks: Marks): { fact: Fact; by: Handover }[] {
  const here = new Set(facts.map((fact) => fact.id));
  return [...marks]
    .filter(([id, { mark }]) => mark === 'pinned' && !here.has(id))
    .flatMap(([, { held }]) => (held === null ? [] : [held]));
}

const STATEMENTS: readonly FactKind[] = ['decision', 'rejected', 'blocker', 'question', 'next', 'note'];
const ENDING: ReadonlySet<Mark['mark'] | undefined> = new Set(['resolved', 'refuted']);

/** Whether the same words of the agent, told as another kind of fact, were resolved or refuted: an agent says a thing twice. */
export function isContradicted(fact: Fact, telling: StatedIn, marks: Marks): boolean {
  if (fact.origin !== 'agent' || marks.size === 0 || marks.has(fact.id)) return false;
  return STATEMENTS.some((kind) => {
    const id = computeFactId(kind, fact.text);
    return marks.has(id) && ENDING.has(findMark({ ...fact, id }, telling, marks)?.mark);
  });
}
