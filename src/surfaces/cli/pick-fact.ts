import { HandoverError } from '../../errors.ts';
import type { Fact } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import { cleanLine, cutToBytes } from '../../model/text.ts';

const MAX_CANDIDATES = 10;

/** The fact of a handover that a whole id, or the beginning of exactly one, names. */
export function requireFact(handover: Handover, words: string): Fact {
  const beginning = words.trim().toLowerCase();
  const matching = handover.facts.filter((fact) => fact.id.startsWith(beginning));
  const [only, ...others] = matching;
  const named = `"${cutToBytes(cleanLine(words), 80)}"`;
  if (only === undefined) {
    throw new HandoverError('HANDOVER_NOT_FOUND', `no fact of ${handover.id} has the id ${named}`, {
      hint: `See them all with: handover show ${handover.id}`,
    });
  }
  if (others.length === 0) return only;
  const shown = matching.slice(0, MAX_CANDIDATES);
  throw new HandoverError(
    'HANDOVER_ID_AMBIGUOUS',
    `${named} is the beginning of ${matching.length} ids of facts: ${shown.map((fact) => fact.id).join(', ')}`,
    { hint: 'Type more of the id.', data: { candidates: shown.map((fact) => fact.id) } },
  );
}
