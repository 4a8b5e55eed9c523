import { findAlike, isNotedStem } from './misspelt.ts';
import type { ParsedQuery } from './parsed-query.ts';
import { type KnownWord, LEAST_SHARE, shareOf, weighWord } from './rank.ts';
import { foldText, isUnspaced, pairsOf, splitWords, stemWord } from './tokens.ts';

/** How rare the words of a query are, and which ones may be meant, by looking at every text. */
export function knowWordsOf(texts: Iterable<{ text: string }>, { words }: ParsedQuery): KnownWord[] {
  const counts = new Map<string, number>();
  const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  const starts = new Set(words.flatMap(({ stem: [first = '', second = ''] }) => [first, second]));
  const unspaced = words.filter((word) => word.isUnspaced);
  let total = 0;
  for (const { text } of texts) {
    total++;
    const folded = foldText(text);
    for (const stem of new Set(
      splitWords(folded)
        .filter((word) => !isUnspaced(word))
        .map(stemWord),
    ))
      if (starts.has(stem.charAt(0))) count(stem);
    for (const { text: word, stem } of unspaced)
      if (pairsOf(word).every((pair) => folded.includes(pair))) count(stem);
  }
  return words.map((word) => {
    const texts = counts.get(word.stem) ?? 0;
    const alike = texts > 0 || word.isUnspaced ? [] : findAlike(word.stem, listStemsNear(word.stem, counts));
    const most = Math.max(texts, ...alike.map((stem) => counts.get(stem) ?? 0));
    return { word, texts, weight: weighWord(most, Math.max(1, total)), alike };
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
