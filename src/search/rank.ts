import type { ParsedQuery, QueryWord } from './query.ts';
import { foldText, isUnspaced, makeStemPicker, splitWords } from './tokens.ts';

/** Keys, best first. A list with more weight counts for as many. */
export interface RankedList<K> {
  keys: readonly K[];
  weight?: number;
}

export interface FusedKey<K> {
  key: K;
  score: number;
}

/** How little the first places of a list differ; the value that reciprocal rank fusion was published with. */
const EVENNESS = 60;

/**
 * Fuses any number of rankings by reciprocal rank: what stands high in several lists comes first. A key that stands in a
 * list twice counts where it stands first. Equal scores keep the order in which keys were first met.
 */
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

/** What is known of a word of the query among all texts. */
export interface TermStats {
  word: QueryWord;
  /** How many texts have it, about. */
  texts: number;
  /** The rarer, the more. */
  weight: number;
  /** Stems that it may be a mistyped form of. */
  corrections: readonly string[];
}

/** Rankings of the same texts by different measures, best first. What a measure does not find is not in its list. */
export interface Rankings<K> {
  words: K[];
  grams: K[];
  /** Those that have the phrase as it stands. */
  exact: ReadonlySet<K>;
}

/** What a hit of the project that is searched from has ahead of others. */
const HERE_WEIGHT = 0.5;

export interface FuseOptions<K> {
  /** Whether a text is of the project that is searched from. */
  isHere?: (key: K) => boolean;
  /** Rankings by other measures than words. */
  more?: readonly RankedList<K>[];
}

/** Ranks texts by their words and by parts of words, and fuses that with other rankings. What has the phrase comes first. */
export function fuseTexts<K>(
  { parsed, known }: { parsed: ParsedQuery; known: readonly TermStats[] },
  texts: readonly { key: K; text: string }[],
  { isHere, more = [] }: FuseOptions<K> = {},
): FusedKey<K>[] {
  const { words, grams, exact } = rankTexts(parsed, known, texts);
  const lists: RankedList<K>[] = [{ keys: words }, { keys: grams }, ...more];
  if (isHere !== undefined) {
    const own = fuse(lists).flatMap(({ key }) => (isHere(key) ? [key] : []));
    lists.push({ keys: own, weight: HERE_WEIGHT });
  }
  const isExact = (key: K): number => Number(exact.has(key));
  return fuse(lists).sort((a, b) => isExact(b.key) - isExact(a.key));
}

/** From how many texts have it, out of how many. */
export function weighWord(texts: number, total: number): number {
  return Math.log(1 + (total - texts + 0.5) / (texts + 0.5));
}

export function rankTexts<K>(
  query: ParsedQuery,
  known: readonly TermStats[],
  texts: readonly { key: K; text: string }[],
): Rankings<K> {
  const byWords: KeyScore<K>[] = [];
  const byGrams: KeyScore<K>[] = [];
  const exact = new Set<K>();
  const pickStem = makeStemPicker(
    new Set(known.flatMap(({ word, corrections }) => [word.stem, ...corrections])),
  );
  for (const { key, text } of texts) {
    const folded = foldText(text);
    byWords.push({ key, ...scoreWords(known, splitWords(folded), pickStem) });
    byGrams.push({ key, ...scoreGrams(known, folded) });
    if (query.phrase !== null && hasPhrase(folded, query.phrase)) exact.add(key);
  }
  const most = [...byWords, ...byGrams].reduce((best, { covered }) => Math.max(best, covered), 0);
  return { words: sortByScore(byWords, most), grams: sortByScore(byGrams, most), exact };
}

interface Score {
  score: number;
  /** How much of the query is there, by the weight of its words. */
  covered: number;
}

interface KeyScore<K> extends Score {
  key: K;
}

/** What has much less of the query than the best is not in the list: by its place there it would count for more than it is. */
const LEAST_COVERED = 0.5;

/** Of equal ones the first given stays ahead. */
function sortByScore<K>(scored: readonly KeyScore<K>[], most: number): K[] {
  return scored
    .filter(({ score, covered }) => score > 0 && covered >= most * LEAST_COVERED)
    .sort((a, b) => b.score - a.score)
    .map(({ key }) => key);
}

/** The constants of BM25, and the length of a usual fact in words. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.5;
const USUAL_WORDS = 14;
/** What a stem counts that is only like the one asked for. */
const ALIKE = 0.7;

function scoreWords(
  known: readonly TermStats[],
  words: readonly string[],
  pickStem: (word: string) => string | null,
): Score {
  const counts = new Map<string, number>();
  for (const each of words) {
    const stem = pickStem(each);
    if (stem !== null) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * words.length) / USUAL_WORDS;
  let [score, covered] = [0, 0];
  for (const { word, weight, corrections } of known) {
    const own = counts.get(word.stem) ?? 0;
    const like = own > 0 ? 0 : Math.max(0, ...corrections.map((stem) => counts.get(stem) ?? 0));
    const count = own + like;
    if (count === 0) continue;
    const worth = weight * (own > 0 ? 1 : ALIKE);
    covered += worth;
    score += (worth * count * (SATURATION + 1)) / (count + SATURATION * length);
  }
  return { score, covered };
}

/** A word of which less is there is not there. */
export const LEAST_SHARE = 0.5;

function scoreGrams(known: readonly TermStats[], folded: string): Score {
  let covered = 0;
  for (const { word, weight } of known) {
    const share = shareOf(word, folded);
    if (share >= LEAST_SHARE) covered += weight * share * share;
  }
  return { score: covered / (1 + Math.log1p(folded.length / 80) / 4), covered };
}

/** How much of a word is in a text, from 0 to 1. */
export function shareOf({ text, grams }: QueryWord, folded: string): number {
  if (folded.includes(text)) return 1;
  if (grams.length === 0) return 0;
  let met = 0;
  for (const gram of grams) if (folded.includes(gram)) met++;
  return met / grams.length;
}

const NAME_CHARACTER = /[\p{L}\p{N}_]/u;

/** As whole words: not in the middle of a longer one. */
function hasPhrase(folded: string, phrase: string): boolean {
  for (let at = folded.indexOf(phrase); at >= 0; at = folded.indexOf(phrase, at + 1)) {
    const before = folded.charAt(at - 1);
    const after = folded.charAt(at + phrase.length);
    if (!joins(before, phrase.charAt(0)) && !joins(phrase.slice(-1), after)) return true;
  }
  return false;
}

function joins(left: string, right: string): boolean {
  if (isUnspaced(left) || isUnspaced(right)) return false;
  return NAME_CHARACTER.test(left) && NAME_CHARACTER.test(right);
}
