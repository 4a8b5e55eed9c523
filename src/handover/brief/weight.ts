import type { Fact } from '../../model/fact.ts';
import { cleanText, findContentWords } from '../../model/text.ts';

/** The weight that distilling gave a fact, read from its detail. A fact without one was declared, and counts in full. */
export interface FactWeight {
  points: number;
  age: number;
  names: ReadonlyMap<string, number>;
  /** Points for being what it is, apart from its words. */
  lasting: number;
  /** Points for each word that nothing else in the brief has. */
  wordPoints: number;
  edits: number;
  /** Edits that did not happen. */
  failures: number;
  role: string | null;
}

const DECLARED_POINTS = 100_000;

export function readWeight(fact: Fact): FactWeight {
  const detail = fact.detail ?? {};
  return {
    points: numberOr(detail.points, DECLARED_POINTS),
    age: numberOr(detail.age, 0),
    names: readNames(detail.names),
    lasting: numberOr(detail.lasting, 0),
    wordPoints: numberOr(detail.word, 0),
    edits: numberOr(detail.edits, 0),
    failures: numberOr(detail.failures, 0),
    role: typeof detail.role === 'string' ? detail.role : null,
  };
}

/** The line of the session's transcript on which a fact was seen; 0 for what is of another session, or of none. */
export function lineOf({ sources: [source] }: Fact): number {
  return source?.session === undefined ? (source?.line ?? 0) : 0;
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

function readNames(value: unknown): Map<string, number> {
  if (typeof value !== 'object' || value === null) return new Map();
  return new Map(Object.entries(value).filter((pair): pair is [string, number] => typeof pair[1] === 'number'));
}

/** What the next session is to do: facts about it get more weight. */
export type Goal = { text: string; words: ReadonlySet<string> };

/** A line about the goal is worth a few of the best names. */
const LINE_POINTS = 3000;
const MOST_WORDS = 3;
const NAME_FACTOR = 4;

export function readGoal(text: string): Goal | null {
  return cleanText(text).trim() === '' ? null : { text, words: new Set(splitWords(text)) };
}

export function weightForGoal(fact: Fact, weight: FactWeight, goal: Goal): FactWeight {
  const count = (text: string): number => splitWords(text).filter((word) => goal.words.has(word)).length;
  const gain = Math.min(MOST_WORDS, count(fact.text)) * LINE_POINTS;
  const names = new Map(weight.names);
  for (const [name, points] of names) if (count(name) > 0) names.set(name, Math.abs(points) * NAME_FACTOR);
  return { ...weight, points: weight.points + gain, lasting: weight.lasting + gain, names };
}

/** Lower-case words: names are split into their parts, and plurals count as their singular. */
function splitWords(text: string): string[] {
  const spaced = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replace(/[_/.:-]/g, ' ');
  return [...new Set(findContentWords(spaced).map((word) => word.replace(/(?<=\p{L}{3})(?:es|s)$/u, '')))];
}

export const BYTES_PER_TOKEN = 4;
