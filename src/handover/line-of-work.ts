import type { Fact, FactKind } from '../model/fact.ts';
import { isGuess, isUserMessage } from '../model/fact-roles.ts';
import type { Handover } from '../model/handover.ts';
import { readOutcomes } from './link.ts';

const LASTING: ReadonlySet<FactKind> = new Set([
  'constraint',
  'decision',
  'rejected',
  'task',
  'next',
  'question',
  'blocker',
]);

/** Whether a fact must not get lost along a line of work without a word: rules, decisions, what is open, what is pinned. */
export function isToKeep(fact: Fact): boolean {
  if (fact.pinned === true || fact.trust === 'declared') return true;
  return LASTING.has(fact.kind) && !isGuess(fact);
}

/** The facts of the handovers before one that it neither has nor says what became of. Empty for one that keeps no record. */
export function findLost(handover: Handover, predecessors: readonly Handover[]): Fact[] {
  const { chain, facts } = handover;
  if (chain === undefined) return [];
  const outcomes = readOutcomes(chain);
  const kept = new Set(facts.map((fact) => fact.id));
  return predecessors.flatMap((earlier) => earlier.facts.filter(({ id }) => !kept.has(id) && !outcomes.has(id)));
}

/** A fact along a line of work. */
export interface TracedFact {
  fact: Fact;
  /** The handover that has it first. */
  since: string;
  /** How it ended, where and why; null while it is valid. */
  end: { how: 'resolved' | 'superseded' | 'dropped' | 'lost'; in: string; reason: string } | null;
}

/** What a handover of a line follows, where that is not the one before it there: it was forgotten. */
export function findForgotten(line: readonly Handover[], at: number): string | null {
  const previous = line[at]?.previous ?? null;
  return previous === (line[at - 1]?.id ?? null) ? null : previous;
}

/** Follows what must not get lost, and what the user said, from the first handover of a line to the last. The oldest comes first. */
export function traceFacts(line: readonly Handover[]): TracedFact[] {
  const traced = new Map<string, TracedFact>();
  for (const [at, handover] of line.entries()) {
    const gone = findForgotten(line, at);
    const outcomes = handover.chain === undefined ? new Map() : readOutcomes(handover.chain);
    const now = new Map(handover.facts.map((fact) => [fact.id, fact]));
    const restated: TracedFact[] = [];
    for (const [id, { fact, since, end }] of traced) {
      if (end !== null) continue;
      const outcome = outcomes.get(id);
      const after = now.get(id);
      // A message is a request while it is the newest one.
      const again = outcome?.end === 'superseded' ? now.get(outcome.by) : undefined;
      if (again !== undefined && again.id !== id && again.text === fact.text) {
        traced.delete(id);
        restated.push({ fact: again, since, end: null });
        continue;
      }
      const isOver = outcome !== undefined && (after === undefined || outcome.end === 'resolved');
      if (isOver && outcome.end !== 'carried' && outcome.end !== 'holds')
        traced.set(id, {
          fact: after ?? fact,
          since,
          end: { how: outcome.end, in: handover.id, reason: outcome.reason },
        });
      else if (after !== undefined) traced.set(id, { fact: after, since, end });
      else
        traced.set(id, {
          fact,
          since,
          end:
            gone === null
              ? { how: 'lost', in: handover.id, reason: 'no record says what became of it' }
              : { how: 'dropped', in: handover.id, reason: `${gone}, which said what became of it, was forgotten` },
        });
    }
    for (const one of restated) if (traced.get(one.fact.id)?.end !== null) traced.set(one.fact.id, one);
    for (const fact of handover.facts.filter((fact) => isToKeep(fact) || isUserMessage(fact))) {
      const known = traced.get(fact.id);
      if (known === undefined || (known.end !== null && known.end.in !== handover.id))
        traced.set(fact.id, { fact, since: handover.id, end: null });
    }
  }
  return [...traced.values()];
}
