import type { ParsedQuery, QueryWord } from './query.ts';
import { foldText, isUnspaced, makeStemPicker } from './tokens.ts';

/** Keys, best first, and how much the list counts. */
export type RankedList<K> = { keys: readonly K[]; weight?: number };

export type FusedKey<K> = { key: K; score: number };

/** The constant of reciprocal rank fusion, as it was published. */
const EVENNESS = 60;

/** Reciprocal rank fusion. Of a key twice in a list the first counts; equal scores stay in the order they were met. */
export function fuse<K>(lists: readonly RankedList<K>[]): FusedKey<K>[] {
  const scores = new Map<K, number>();
  for (const { keys, weight = 1 } of lists) {
    const seen = new Set<K>();
    for (const [place, key] of keys.entries()) {
      if (seen.has(key)) continue;
      seen.add(key);
      scores.set(key, (scores.get(key) ?? 0) + weight / (EVENNESS + place + 1));
    }
  }
  return [...scores].map(([key, score]) => ({ key, score })).sort((a, b) => b.score - a.score);
}

export interface TermStats {
  word: QueryWord;
  /** About how many texts have it. */
  texts: number;
  /** The rarer, the higher. */
  weight: number;
  /** Stems that it may be a typo of. */
  corrections: readonly string[];
}

/** What to look for in a text that was found, the most telling first. */
export function listTerms({ phrase }: ParsedQuery, known: readonly TermStats[]): string[] {
  const byWeight = [...known].sort((a, b) => b.weight - a.weight);
  return [
    ...(phrase === null ? [] : [phrase]),
    ...byWeight.flatMap(({ word, corrections }) => [word.text, ...corrections]),
  ];
}

/** The inverse document frequency of BM25. */
export function weighWord(texts: number, total: number): number {
  return Math.log(1 + (total - texts + 0.5) / (texts + 0.5));
}

const HERE_WEIGHT = 0.5;

/**
 * Ranks by words and their parts, fused with `more`. Texts that `isHere` gain weight; what was typed comes first. Where a
 * text has a word of the query, those that have none are left out unless they are in `more`.
 */
export function fuseTexts<K>(
  { parsed, known }: { parsed: ParsedQuery; known: readonly TermStats[] },
  texts: readonly { key: K; text: string }[],
  { isHere, more = [] }: { isHere?: (key: K) => boolean; more?: readonly RankedList<K>[] } = {},
): (FusedKey<K> & { exact: Exactness })[] {
  const { words, grams, exact } = rankTexts(parsed, known, texts);
  const lists: RankedList<K>[] = [{ keys: words }, { keys: grams }, ...more];
  if (isHere !== undefined) {
    const own = fuse(lists).flatMap(({ key }) => (isHere(key) ? [key] : []));
    lists.push({ keys: own, weight: HERE_WEIGHT });
  }
  const fused = fuse(lists).map((each): FusedKey<K> & { exact: Exactness } => ({
    ...each,
    exact: exact.get(each.key) ?? NEAR,
  }));
  const isFound = fused.some((each) => each.exact !== NEAR);
  const meant = new Set(more.flatMap(({ keys }) => keys));
  return fused
    .filter((each) => !isFound || each.exact !== NEAR || meant.has(each.key))
    .sort((a, b) => b.exact - a.exact);
}

/** None of the words matches, only similar spelling or meaning. */
export const NEAR = -1;

/** 2: the query is there as it was typed; 1: all its words are; 0: some are. */
export type Exactness = typeof NEAR | 0 | 1 | 2;

/** The same texts ranked by words and by trigrams, without those that do not match, and how exactly each does; none for a near one. */
export function rankTexts<K>(
  query: ParsedQuery,
  known: readonly TermStats[],
  texts: readonly { key: K; text: string }[],
): { words: K[]; grams: K[]; exact: ReadonlyMap<K, Exactness> } {
  const byWords: KeyScore<K>[] = [];
  const byGrams: KeyScore<K>[] = [];
  const exact = new Map<K, Exactness>();
  const picker = makeStemPicker(new Set(known.flatMap(({ word, corrections }) => [word.stem, ...corrections])));
  for (const { key, text } of texts) {
    const { folded, words, stems } = picker.read(text);
    byWords.push({ key, ...scoreWords(known, stems, text.length) });
    byGrams.push({ key, ...scoreGrams(known, folded) });
    if (!known.some(({ word }) => folded.includes(word.text) || stems.has(word.stem))) continue;
    if (!known.every(({ word }) => (word.isUnspaced ? folded.includes(word.text) : words.has(word.text))))
      exact.set(key, 0);
    else exact.set(key, query.phrase !== null && hasPhrase(foldText(text), query.phrase) ? 2 : 1);
  }
  const most = [...byWords, ...byGrams].reduce((best, { covered }) => Math.max(best, covered), 0);
  return { words: sortByScore(byWords, most), grams: sortByScore(byGrams, most), exact };
}

/** `covered` is how much of the query is there, by the weight of its words. */
type Score = { score: number; covered: number };
type KeyScore<K> = Score & { key: K };

/** Texts that cover much less of the query than the best are left out: fusion sees only their place in the list. */
const MIN_COVERED = 0.5;

function sortByScore<K>(scores: readonly KeyScore<K>[], most: number): K[] {
  return scores
    .filter(({ score, covered }) => score > 0 && covered >= most * MIN_COVERED)
    .sort((a, b) => b.score - a.score)
    .map(({ key }) => key);
}

/** The constants of BM25, and the usual length of a fact. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.5;
const USUAL_LENGTH = 90;
const CORRECTED = 0.7;

function scoreWords(known: readonly TermStats[], counts: ReadonlyMap<string, number>, size: number): Score {
  const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * size) / USUAL_LENGTH;
  let [score, covered] = [0, 0];
  for (const { word, weight, corrections } of known) {
    const own = counts.get(word.stem) ?? 0;
    const count = own > 0 ? own : Math.max(0, ...corrections.map((stem) => counts.get(stem) ?? 0));
    if (count === 0) continue;
    const worth = weight * (own > 0 ? 1 : CORRECTED);
    covered += worth;
    score += (worth * count * (SATURATION + 1)) / (count + SATURATION * length);
  }
  return { score, covered };
}

/** A word of which a smaller share is there does not count. */
export const MIN_SHARE = 0.5;

function scoreGrams(known: readonly TermStats[], folded: string): Score {
  let covered = 0;
  for (const { word, weight } of known) {
    const share = shareOf(word, folded);
    if (share >= MIN_SHARE) covered += weight * share * share;
  }
  return { score: covered / (1 + Math.log1p(folded.length / 80) / 4), covered };
}

/** Which share of a word's trigrams is in a text, from `MIN_SHARE` to 1; 0 for less. */
export function shareOf({ text, grams }: QueryWord, folded: string): number {
  if (folded.includes(text)) return 1;
  let missing = 0;
  for (const gram of grams) if (!folded.includes(gram) && ++missing > grams.length * (1 - MIN_SHARE)) return 0;
  return grams.length === 0 ? 0 : 1 - missing / grams.length;
}

const NAME_CHARACTER = /[\p{L}\p{N}_]/u;

/** Whether a text has the phrase as whole words, not in the middle of a longer one. */
function hasPhrase(folded: string, phrase: string): boolean {
  for (let at = folded.indexOf(phrase); at >= 0; at = folded.indexOf(phrase, at + 1))
    if (!joins(folded.charAt(at - 1), phrase.charAt(0)) && !joins(phrase.slice(-1), folded.charAt(at + phrase.length)))
      return true;
  return false;
}

function joins(left: string, right: string): boolean {
  if (isUnspaced(left) || isUnspaced(right)) return false;
  return NAME_CHARACTER.test(left) && NAME_CHARACTER.test(right);
}
