import { type Fused, fuse, type RankedList } from './fuse.ts';
import type { ParsedQuery, QueryWord } from './parsed-query.ts';
import { foldText, isUnspaced, makeStemPicker, splitWords } from './tokens.ts';

/** What is known of a word of the query among all texts. */
export interface KnownWord {
  word: QueryWord;
  /** How many texts have it, about. */
  texts: number;
  /** The rarer, the more. */
  weight: number;
  /** Stems that it may be a mistyped form of. */
  alike: readonly string[];
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
  { parsed, known }: { parsed: ParsedQuery; known: readonly KnownWord[] },
  texts: readonly { key: K; text: string }[],
  { isHere, more = [] }: FuseOptions<K> = {},
): Fused<K>[] {
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
  known: readonly KnownWord[],
  texts: readonly { key: K; text: string }[],
): Rankings<K> {
  const byWords: Scored<K>[] = [];
  const byGrams: Scored<K>[] = [];
  const exact = new Set<K>();
  const pickStem = makeStemPicker(new Set(known.flatMap(({ word, alike }) => [word.stem, ...alike])));
  for (const { key, text } of texts) {
    const folded = foldText(text);
    byWords.push({ key, ...scoreWords(known, splitWords(folded), pickStem) });
    byGrams.push({ key, ...scoreGrams(known, folded) });
    if (query.phrase !== null && hasPhrase(folded, query.phrase)) exact.add(key);
  }
  const most = [...byWords, ...byGrams].reduce((best, { covered }) => Math.max(best, covered), 0);
  return { words: sortByScore(byWords, most), grams: sortByScore(byGrams, most), exact };
}

interface Measured {
  score: number;
  /** How much of the query is there, by the weight of its words. */
  covered: number;
}

interface Scored<K> extends Measured {
  key: K;
}

/** What has much less of the query than the best is not in the list: by its place there it would count for more than it is. */
const LEAST_COVERED = 0.5;

/** Of equal ones the first given stays ahead. */
function sortByScore<K>(scored: readonly Scored<K>[], most: number): K[] {
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
  known: readonly KnownWord[],
  words: readonly string[],
  pickStem: (word: string) => string | null,
): Measured {
  const counts = new Map<string, number>();
  for (const each of words) {
    const stem = pickStem(each);
    if (stem !== null) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * words.length) / USUAL_WORDS;
  let [score, covered] = [0, 0];
  for (const { word, weight, alike } of known) {
    const own = counts.get(word.stem) ?? 0;
    const like = own > 0 ? 0 : Math.max(0, ...alike.map((stem) => counts.get(stem) ?? 0));
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

function scoreGrams(known: readonly KnownWord[], folded: string): Measured {
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
