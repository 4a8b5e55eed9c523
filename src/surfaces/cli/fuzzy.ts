/**
 * How well the typed words fit a text: higher is better, null is no fit. Every word must be found, its letters in
 * order; letters that stand together, begin a word or begin the text count more.
 */
export function scoreFuzzy(typed: string, text: string): number | null {
  const folded = text.toLowerCase();
  let total = 0;
  for (const word of typed
    .toLowerCase()
    .split(/\s+/)
    .filter((part) => part !== '')) {
    const score = scoreWord(word, folded);
    if (score === null) return null;
    total += score;
  }
  return total;
}

const WHOLE = 100;
const AT_WORD_START = 8;
const TOGETHER = 5;
const GAP = -1;

function scoreWord(word: string, text: string): number | null {
  const whole = text.indexOf(word);
  if (whole !== -1) return WHOLE + word.length * TOGETHER + (isWordStart(text, whole) ? AT_WORD_START : 0);
  let score = 0;
  let last = -1;
  for (const letter of word) {
    const at = text.indexOf(letter, last + 1);
    if (at === -1) return null;
    score += at === last + 1 ? TOGETHER : Math.max(GAP * (at - last), -TOGETHER);
    if (isWordStart(text, at)) score += AT_WORD_START;
    last = at;
  }
  return score;
}

function isWordStart(text: string, at: number): boolean {
  return at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1));
}

/** The texts that fit, best first; equal ones in their own order. */
export function rankFuzzy<T>(typed: string, items: readonly T[], textOf: (item: T) => string): T[] {
  if (typed.trim() === '') return [...items];
  return items
    .map((item, order) => ({ item, order, score: scoreFuzzy(typed, textOf(item)) }))
    .filter((entry): entry is typeof entry & { score: number } => entry.score !== null)
    .sort((a, b) => b.score - a.score || a.order - b.order)
    .map((entry) => entry.item);
}
