import { isStopWord } from '../model/text.ts';
import { foldText, gramsOf, isUnspaced, splitWords, stemWord } from './tokens.ts';

export interface QueryWord {
  /** Folded. */
  text: string;
  stem: string;
  grams: readonly string[];
  isUnspaced: boolean;
}

/** What a person typed, taken apart. No sign in it has a meaning of its own. */
export interface ParsedQuery {
  folded: string;
  words: readonly QueryWord[];
  /** Where several words, or a name with signs in it, are asked for: what has them as they stand comes first. */
  phrase: string | null;
}

/** A query is what a person types or an error that was pasted; what is beyond is not looked at. */
const MAX_CHARACTERS = 2000;
const MAX_WORDS = 24;

export function parseQuery(text: string): ParsedQuery {
  const folded = foldText(text.slice(0, MAX_CHARACTERS));
  const all = [...new Set(splitWords(folded))];
  const telling = all.filter((word) => !isStopWord(word));
  const words = (telling.length > 0 ? telling : all).slice(0, MAX_WORDS).map(describeWord);
  const phrase = trimSigns(folded);
  return { folded, words, phrase: phrase !== words[0]?.text && phrase.length > 2 ? phrase : null };
}

function describeWord(text: string): QueryWord {
  return { text, stem: stemWord(text), grams: gramsOf(text), isUnspaced: isUnspaced(text) };
}

/** Quotes around a query, and the point at its end, are not part of what is looked for. */
function trimSigns(folded: string): string {
  return folded.replace(/^["'`“”‘’«»\s]+|["'`“”‘’«»\s.!?。]+$/gu, '');
}
