import type { ParsedQuery } from './query.ts';
import { LEAST_SHARE, shareOf, type TermStats, weighWord } from './rank.ts';
import { foldText, isUnspaced, pairsOf, splitWords, stemWord } from './tokens.ts';

export const MIN_STEM = 4;
export const MAX_STEM = 32;

/** Which stems a mistyped word is compared with: names with digits in them are not guessed. */
export function isGuessable(stem: string): boolean {
  return stem.length >= MIN_STEM && stem.length <= MAX_STEM && !/[0-9]/.test(stem);
}

/** How many letters may be wrong in a word: one in short ones, two in long ones, none in the shortest. */
export function allowedErrors(word: string): number {
  if (word.length < 4) return 0;
  return word.length < 8 ? 1 : 2;
}

/**
 * How many letters must be put in, left out, changed or swapped with their neighbour to make one word of the other; more
 * than `most` counts as one more than that.
 */
export function countErrors(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const isSame = a.charAt(i - 1) === b.charAt(j - 1);
      let errors = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1));
      const isSwapped =
        i > 1 && j > 1 && a.charAt(i - 1) === b.charAt(j - 2) && a.charAt(i - 2) === b.charAt(j - 1);
      if (isSwapped) errors = Math.min(errors, (before[j - 2] ?? 0) + 1);
      row.push(errors);
      least = Math.min(least, errors);
    }
    if (least > most) return most + 1;
    [before, last] = [last, row];
  }
  return Math.min(last[b.length] ?? most + 1, most + 1);
}

const MAX_ALIKE = 4;

/** The stems that a word, which is none of them, is most likely a mistyped form of. */
export function suggestStems(stem: string, stems: Iterable<string>): string[] {
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
    .slice(0, MAX_ALIKE)
    .map((each) => each.stem);
}

/** One bit a letter, some of which share one: each error changes two of them at most. */
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

/** How rare the words of a query are, and which ones may be meant, by looking at every text. */
export function countTerms(texts: Iterable<{ text: string }>, { words }: ParsedQuery): TermStats[] {
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
    const alike =
      texts > 0 || word.isUnspaced ? [] : suggestStems(word.stem, listStemsNear(word.stem, counts));
    const most = Math.max(texts, ...alike.map((stem) => counts.get(stem) ?? 0));
    return { word, texts, weight: weighWord(most, Math.max(1, total)), corrections: alike };
  });
}

function listStemsNear(stem: string, stems: ReadonlyMap<string, number>): string[] {
  const [first = '', second = ''] = stem;
  return [...stems.keys()].filter(
    (each) => isGuessable(each) && (each.startsWith(first) || each.startsWith(`${second}${first}`)),
  );
}

export function mayMatch(known: readonly TermStats[], folded: string): boolean {
  const stems = new Set(splitWords(folded).map(stemWord));
  return known.some(
    ({ word, corrections }) =>
      stems.has(word.stem) ||
      corrections.some((stem) => stems.has(stem)) ||
      shareOf(word, folded) >= LEAST_SHARE,
  );
}
