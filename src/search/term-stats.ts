import type { ParsedQuery, QueryWord } from './query.ts';
import { MIN_SHARE, shareOf, type TermStats, weighWord } from './rank.ts';
import { foldText, isUnspaced, pairsOf, splitWords, stemWord } from './tokens.ts';
import { listSwaps, MAX_STEM, MIN_STEM, suggestStems } from './typos.ts';

/** Where the statistics of words come from: an index, or a scan of all texts. */
export interface TermSource {
  /** How many texts there are. */
  total: number;
  countWord(word: QueryWord): number;
  countStem(stem: string): number;
  /** The stems to look for typos among. */
  listStemsNear(stem: string): Iterable<string>;
  /** Stems that contain one of these. */
  listStemsWith(parts: readonly string[]): string[];
}

/** How rare each word of a query is and, for a word that no text has, the stems that it may be a typo of. */
export function makeTermStats({ words }: ParsedQuery, source: TermSource): TermStats[] {
  const { total } = source;
  return words.map((word) => {
    const texts = source.countWord(word);
    const corrections = texts > 0 || word.isUnspaced ? [] : correct(word, source);
    const most = Math.max(texts, ...corrections.map(source.countStem));
    return { word, texts, weight: weighWord(Math.min(most, total), total), corrections };
  });
}

/** A word that is known inside longer names needs no correction. */
function correct({ text, stem }: QueryWord, source: TermSource): string[] {
  const near = suggestStems(stem, source.listStemsNear(stem));
  const swaps = listSwaps(text);
  if (near.length > 0 || swaps.length === 0 || source.listStemsWith([text]).length > 0) return near;
  return source.listStemsWith(swaps);
}

/** The same by reading every text. */
export function countTerms(texts: Iterable<{ text: string }>, parsed: ParsedQuery): TermStats[] {
  const counts = new Map<string, number>();
  const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  const unspaced = parsed.words.filter((word) => word.isUnspaced);
  let total = 0;
  for (const { text } of texts) {
    total++;
    const folded = foldText(text);
    const spaced = splitWords(folded).filter((word) => !isUnspaced(word));
    for (const stem of new Set(spaced.map(stemWord))) count(stem);
    for (const { text: word, stem } of unspaced) if (pairsOf(word).every((pair) => folded.includes(pair))) count(stem);
  }
  const countStem = (stem: string): number => counts.get(stem) ?? 0;
  return makeTermStats(parsed, {
    total: Math.max(1, total),
    countWord: ({ stem }) => countStem(stem),
    countStem,
    listStemsNear: ([first = '', second = '']) =>
      [...counts.keys()].filter(
        (each) =>
          each.length >= MIN_STEM &&
          each.length <= MAX_STEM &&
          !/[0-9]/.test(each) &&
          (each.startsWith(first) || each.startsWith(`${second}${first}`)),
      ),
    listStemsWith: (parts) => [...counts.keys()].filter((each) => parts.some((part) => each.includes(part))),
  });
}

/** Whether a folded text is worth ranking. */
export function mayMatch(known: readonly TermStats[], folded: string): boolean {
  const stems = new Set(splitWords(folded).map(stemWord));
  return known.some(
    ({ word, corrections }) =>
      [word.stem, ...corrections].some((stem) => stems.has(stem)) || shareOf(word, folded) >= MIN_SHARE,
  );
}
