import { findAlike, isNotedStem } from './misspelt.ts';
import type { ParsedQuery } from './parsed-query.ts';
import { type KnownWord, LEAST_SHARE, shareOf, weighWord } from './rank.ts';
import { foldText, splitWords, stemWord } from './tokens.ts';

/** How rare the words of a query are, and which ones may be meant, by looking at every text. */
export function knowWordsOf(texts: Iterable<{ text: string }>, { words }: ParsedQuery): KnownWord[] {
  const counts = new Map<string, number>();
  const starts = new Set(words.flatMap(({ stem: [first = '', second = ''] }) => [first, second]));
  let total = 0;
  for (const { text } of texts) {
    total++;
    for (const stem of new Set(splitWords(foldText(text)).map(stemWord)))
      if (starts.has(stem.charAt(0))) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  return words.map((word) => {
    const count = counts.get(word.stem) ?? 0;
    const alike = count > 0 || word.isUnspaced ? [] : findAlike(word.stem, listStemsNear(word.stem, counts));
    const most = Math.max(count, ...alike.map((stem) => counts.get(stem) ?? 0));
    return { word, texts: count, weight: weighWord(most, Math.max(1, total)), alike };
  });
}

function listStemsNear(stem: string, stems: ReadonlyMap<string, number>): string[] {
  const [first = '', second = ''] = stem;
  return [...stems.keys()].filter(
    (each) => isNotedStem(each) && (each.startsWith(first) || each.startsWith(`${second}${first}`)),
  );
}

export function mayMatch(known: readonly KnownWord[], folded: string): boolean {
  const stems = new Set(splitWords(folded).map(stemWord));
  return known.some(
    ({ word, alike }) =>
      stems.has(word.stem) || alike.some((stem) => stems.has(stem)) || shareOf(word, folded) >= LEAST_SHARE,
  );
}
