import type { ParsedQuery, QueryWord } from './query.ts';
import { MIN_SHARE, shareOf, type TermStats, weighWord } from './rank.ts';
import { foldText, isUnspaced, pairsOf, splitWords, stemWord } from './tokens.ts';

export const MIN_STEM = 4;
export const MAX_STEM = 32;

/** How many letters may be wrong in a word: none in the shortest, one in short ones, two in long ones. */
export function allowedErrors(word: string): number {
  if (word.length < 4) return 0;
  return word.length < 8 ? 1 : 2;
}

/** The edit distance with swaps of neighbours (Damerau-Levenshtein); everything above `most` counts as `most + 1`. */
function countErrors(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const isSame = a.charAt(i - 1) === b.charAt(j - 1);
      let errors = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && a.charAt(i - 1) === b.charAt(j - 2) && a.charAt(i - 2) === b.charAt(j - 1);
      if (isSwapped) errors = Math.min(errors, (before[j - 2] ?? 0) + 1);
      row.push(errors);
      least = Math.min(least, errors);
    }
    if (least > most) return most + 1;
    [before, last] = [last, row];
  }
  return Math.min(last[b.length] ?? most + 1, most + 1);
}

const MAX_SUGGESTIONS = 4;

/** The stems that an unknown stem is most likely a typo of. */
function suggestStems(stem: string, stems: Iterable<string>): string[] {
  const most = allowedErrors(stem);
  if (most === 0) return [];
  const found: { stem: string; errors: number }[] = [];
  const letters = lettersOf(stem);
  for (const candidate of stems) {
    if (countBits(letters ^ lettersOf(candidate)) > 2 * most) continue;
    const errors = countErrors(stem, candidate, most);
    if (errors <= most) found.push({ stem: candidate, errors });
  }
  return found
    .sort((a, b) => a.errors - b.errors || (a.stem < b.stem ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map((each) => each.stem);
}

/** One bit per letter, some of which share one: an error changes two bits at most, which rules most words out quickly. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** Where the statistics of words come from: an index, or a scan of all texts. */
export interface TermSource {
  /** How many texts there are. */
  total: number;
  countWord(word: QueryWord): number;
  countStem(stem: string): number;
  /** The stems to look for typos among. */
  listStemsNear(stem: string): Iterable<string>;
}

/** How rare each word of a query is and, for a word that no text has, the stems that it may be a typo of. */
export function makeTermStats({ words }: ParsedQuery, source: TermSource): TermStats[] {
  const { total } = source;
  return words.map((word) => {
    const texts = source.countWord(word);
    const corrections = texts > 0 || word.isUnspaced ? [] : suggestStems(word.stem, source.listStemsNear(word.stem));
    const most = Math.max(texts, ...corrections.map(source.countStem));
    return { word, texts, weight: weighWord(Math.min(most, total), total), corrections };
  });
}

/** The same by reading every text. */
export function countTerms(texts: Iterable<{ text: string }>, parsed: ParsedQuery): TermStats[] {
  const counts = new Map<string, number>();
  const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  const starts = new Set(parsed.words.flatMap(({ stem: [first = '', second = ''] }) => [first, second]));
  const unspaced = parsed.words.filter((word) => word.isUnspaced);
  let total = 0;
  for (const { text } of texts) {
    total++;
    const folded = foldText(text);
    const spaced = splitWords(folded).filter((word) => !isUnspaced(word));
    for (const stem of new Set(spaced.map(stemWord))) if (starts.has(stem.charAt(0))) count(stem);
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
