import { computeFactId, type Fact, type FactKind } from '../model/fact.ts';
import { findMark, type Mark, type Marks, type Telling } from './marks.ts';

const STATEMENTS: readonly FactKind[] = ['decision', 'rejected', 'blocker', 'question', 'next', 'note'];
const ENDING: ReadonlySet<Mark['mark'] | undefined> = new Set(['resolved', 'refuted']);

/** Whether the same words of the agent, told as another kind of fact, were resolved or refuted: an agent says a thing twice. */
export function isSaidOtherwise(fact: Fact, telling: Telling, marks: Marks): boolean {
  if (fact.origin !== 'agent' || marks.size === 0 || marks.has(fact.id)) return false;
  return STATEMENTS.some((kind) => {
    const id = computeFactId(kind, fact.text);
    return marks.has(id) && ENDING.has(findMark({ ...fact, id }, telling, marks)?.mark);
  });
}
