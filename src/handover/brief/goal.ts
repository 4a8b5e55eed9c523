import type { Fact } from '../../model/fact.ts';
import { findContentWords } from '../../model/text.ts';
import { oneLine } from './lines.ts';
import type { FactWeight } from './weight.ts';

/** What the next session is to do, as far as it decides what is worth telling it. */
export interface Goal {
  text: string;
  words: ReadonlySet<string>;
}

/** A line about the goal is worth a few of the best names. */
const LINE_POINTS = 3000;
const MOST_WORDS = 3;
const NAME_FACTOR = 4;

/** Null where nothing is said. */
export function readGoal(text: string): Goal | null {
  return oneLine(text) === '' ? null : { text, words: new Set(splitWords(text)) };
}

/** The weight of a fact once it is known what the reader is about to do. */
export function steer(fact: Fact, weight: FactWeight, goal: Goal): FactWeight {
  const matches = Math.min(MOST_WORDS, splitWords(fact.text).filter((word) => goal.words.has(word)).length);
  const gain = matches * LINE_POINTS;
  const names = [...weight.names].map(([name, points]): [string, number] => [
    name,
    isAbout(name, goal) ? Math.abs(points) * NAME_FACTOR : points,
  ]);
  return {
    ...weight,
    points: weight.points + gain,
    lasting: weight.lasting + gain,
    names: new Map(names),
  };
}

function isAbout(name: string, goal: Goal): boolean {
  return splitWords(name).some((word) => goal.words.has(word));
}

/** Words as people say them: the parts of names count, and so does a plural for its singular. */
function splitWords(text: string): string[] {
  const spaced = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replace(/[_/.:-]/g, ' ');
  return [...new Set(findContentWords(spaced).map((word) => word.replace(/(?<=\p{L}{3})(?:es|s)$/u, '')))];
}
