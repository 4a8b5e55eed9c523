import { cleanText, findContentWords } from '../../model/text.ts';

/** What the next session is to do: facts about it get more weight. */
export type Goal = { text: string; words: ReadonlySet<string> };

export function readGoal(text: string): Goal | null {
  return cleanText(text).trim() === '' ? null : { text, words: new Set(splitWords(text)) };
}

const MOST_WORDS = 3;

/** How much a text is about the goal: 0 for not at all. */
export function rateForGoal(goal: Goal | null, text: string): number {
  if (goal === null) return 0;
  return Math.min(MOST_WORDS, splitWords(text).filter((word) => goal.words.has(word)).length);
}

/** Lower-case words: names are split into their parts, and plurals count as their singular. */
function splitWords(text: string): string[] {
  const spaced = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replace(/[_/.:-]/g, ' ');
  return [...new Set(findContentWords(spaced).map((word) => word.replace(/(?<=\p{L}{3})(?:es|s)$/u, '')))];
}
