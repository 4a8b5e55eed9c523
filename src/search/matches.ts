import { parseQuery } from './parsed-query.ts';
import { isUnspaced, stemWord } from './tokens.ts';

export interface Match {
  start: number;
  end: number;
}

/** The words of a text that a query asked for, in any form of theirs. */
export function findMatches(text: string, query: string): Match[] {
  const { words } = parseQuery(query);
  const stems = new Set(words.map(({ stem }) => stem));
  const parts = words.filter(({ text: word, isUnspaced: runs }) => runs || word.length > 3);
  const matches: Match[] = [];
  for (const match of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    const [word] = match;
    const folded = word.toLowerCase();
    const part = parts.find((each) => folded.includes(each.text));
    const isWhole = stems.has(stemWord(folded));
    if (!isWhole && part === undefined) continue;
    const at = !isWhole && part !== undefined ? folded.indexOf(part.text) : 0;
    const length = !isWhole && part !== undefined && isUnspaced(word) ? part.text.length : word.length - at;
    matches.push({ start: match.index + at, end: match.index + at + length });
  }
  return matches;
}
