/* Typo correction: the stems of an index that a word of a query may be a misspelling of. */

/** Only stems of these lengths are suggested. */
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

/** Of a short list of names, those that a word may be a typo of, or the start of: the likeliest first. */
export function suggestNames(word: string, names: Iterable<string>): string[] {
  const typed = word.toLowerCase();
  const most = typed.length < 4 ? 1 : 2;
  const rank = (name: string): number => {
    const known = name.toLowerCase();
    return known.startsWith(typed) ? 0 : countErrors(typed, known, most);
  };
  return [...names]
    .map((name) => ({ name, errors: rank(name) }))
    .filter(({ errors }) => errors <= most)
    .sort((a, b) => a.errors - b.errors)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

/** What to type instead of a word that is none of these names. */
export function suggestOneOf(word: string, names: readonly string[]): string {
  const near = suggestNames(word.trim(), names);
  return `${near.length === 0 ? '' : `Did you mean: ${near.join(', or ')}? `}Use one of: ${names.join(', ')}.`;
}

/** The stems that an unknown stem is most likely a typo of: the fewest errors first, at most four. */
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
    .slice(0, MAX_SUGGESTIONS)
    .map((each) => each.stem);
}

const MIN_SWAPPED = 6;

/** A word with each two neighbouring letters swapped, for looking it up inside longer names; none of a short word. */
export function listSwaps(word: string): string[] {
  if (word.length < MIN_SWAPPED || word.length > MAX_STEM) return [];
  return Array.from(
    word.slice(1),
    (letter, at) => `${word.slice(0, at)}${letter}${word.charAt(at)}${word.slice(at + 2)}`,
  );
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
