import { keepLetters } from '../../app/capture/match-fact.ts';
import { HandoverError } from '../../errors.ts';
import type { Fact } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import { cleanLine, cutAtWord, cutToBytes } from '../../model/text.ts';

const MAX_CANDIDATES = 10;
const FEWEST_LETTERS = 4;
const MAX_SHOWN_BYTES = 60;

/**
 * The facts of a handover that words stand for: an id, the beginning of one, or what the fact says, as a brief has it or a
 * part of that. Who says all of one fact means that one, though others say more.
 */
export function matchFacts({ facts }: Handover, words: string): Fact[] {
  const word = words.trim();
  if (/^f(?:-|$)/i.test(word)) return facts.filter((fact) => fact.id.startsWith(word.toLowerCase()));
  const line = word.replace(BEFORE_A_FACT, '').replace(BEHIND_A_FACT, '');
  const saying = listSaying(facts, line);
  return saying.length > 0 ? saying : listSaying(facts, line.replace(KIND_AND_STATUS, ''));
}

/** What a brief puts around the words of a fact. */
const BEFORE_A_FACT = /^[>\s-]*(?:\((?:imported|by the agent), unverified\)\s*)?/;
const BEHIND_A_FACT = /(?:…|\s@\d+)+\s*$/;
const KIND_AND_STATUS = /^(?:[a-z]+: )?(?:\[[^\]]*\] )?/;

function listSaying(facts: readonly Fact[], words: string): Fact[] {
  const said = keepLetters(words);
  if (said.length < FEWEST_LETTERS) return [];
  const saying = facts.filter((fact) => keepLetters(fact.text).includes(said));
  const exactly = saying.filter((fact) => keepLetters(fact.text) === said);
  return exactly.length > 0 ? exactly : saying;
}

/** The one fact of a handover that words stand for. */
export function requireFact(handover: Handover, words: string): Fact {
  const matching = matchFacts(handover, words);
  const [only, ...others] = matching;
  const named = `"${cutToBytes(cleanLine(words), 80)}"`;
  if (only === undefined) {
    throw new HandoverError('HANDOVER_NOT_FOUND', `no fact of ${handover.id} is ${named}`, {
      hint: `See them all with: handover show ${handover.id}`,
    });
  }
  if (others.length === 0) return only;
  const shown = matching.slice(0, MAX_CANDIDATES);
  const lines = shown.map(
    ({ id, kind, text }) => `\n  ${id}  ${kind} ${cutAtWord(cleanLine(text), MAX_SHOWN_BYTES)}`,
  );
  const more = matching.length > shown.length ? '\n  …' : '';
  throw new HandoverError(
    'HANDOVER_ID_AMBIGUOUS',
    `${named} fits ${matching.length} facts:${lines.join('')}${more}`,
    { hint: 'Give one of these ids.', data: { candidates: shown.map((fact) => fact.id) } },
  );
}
