import type { SqlDatabase } from '../platform/sqlite.ts';
import {
  allOf,
  anyOf,
  countNumbers,
  type Expression,
  findNumbers,
  findStems,
  listJoined,
  listStemsFrom,
  type Reach,
  term,
  wordTerm,
} from './full-text.ts';
import type { ParsedQuery, QueryWord } from './query.ts';
import { LEAST_SHARE, shareOf, type TermStats, weighWord } from './rank.ts';
import { allowedErrors, MAX_STEM, MIN_STEM, suggestStems } from './term-stats.ts';
import { gramsOf } from './tokens.ts';

/** How many texts there are, about, and which numbers they have, from the newest to the oldest. */
export interface Extent extends Reach {
  total: number;
}

/** Looks up how rare the words of a query are, and, of one that no text has, which ones may be meant. */
export function lookUpTerms(database: SqlDatabase, { words }: ParsedQuery, extent: Extent): TermStats[] {
  const { total } = extent;
  return words.map((word) => {
    const texts = estimate(database, wordTerm(word.text), extent);
    const alike =
      texts > 0 || word.isUnspaced ? [] : suggestStems(word.stem, findNearbyStems(database, word.stem));
    const counts = alike.map((stem) => estimate(database, term(stem), extent));
    const weight = weighWord(Math.min(Math.max(texts, ...counts), total), total);
    return { word, texts, weight, corrections: alike };
  });
}

/** So many of a word's newest texts are counted; how many there are in all follows from how far back they reach. */
const COUNTED = 400;

/** About how many texts there are; exact while they are few. */
function estimate(database: SqlDatabase, expression: Expression, { from, to }: Reach): number {
  const { count, last } = countNumbers(database, expression, COUNTED);
  if (count < COUNTED || last >= to) return count;
  return Math.round((count * (to - from + 1)) / Math.max(1, last - from + 1));
}

/** Stems with the same first letter, or with the first two swapped: few people mistype the first one. */
function findNearbyStems(database: SqlDatabase, stem: string): string[] {
  const [first = '', second = ''] = stem;
  const errors = allowedErrors(stem);
  const lengths = {
    shortest: Math.max(MIN_STEM, stem.length - errors),
    longest: Math.min(MAX_STEM, stem.length + errors),
  };
  return [...new Set([first, `${second}${first}`])].flatMap((start) =>
    listStemsFrom(database, start, lengths),
  );
}

export interface Retrieval {
  parsed: ParsedQuery;
  known: readonly TermStats[];
  extent: Extent;
  /** What every text must have besides. */
  limits: readonly Expression[];
  /** How many texts are wanted in the end. */
  limit: number;
}

/** Texts to be ranked: more would cost more time than they can change of the first places. */
const MOST = 300;
const MOST_OF_ALL_WORDS = 120;
const MOST_OF_A_WORD = 100;
const ENOUGH = 40;
/** A word that more texts have than one in so many narrows nothing down that rarer ones have not. */
const COMMON = 20;
/** A word that so few texts have may be part of a longer one in others. */
const SCARCE = 10;

/**
 * The numbers of texts that may be what is looked for: what has all words, or the path or name as it stands, then all
 * words but one, then scarce words within longer ones, then single words, the rarest first, and last what has parts of
 * words. Of what is frequent the newest are taken.
 */
export function retrieveNumbers(database: SqlDatabase, request: Retrieval, reach: Reach): number[] {
  const { known, parsed, limits, extent } = request;
  const most = Math.max(MOST, 2 * request.limit);
  const mostOfAll = Math.max(MOST_OF_ALL_WORDS, 2 * request.limit);
  const found = new Set<number>();
  const take = (expression: Expression, limit: number): void => {
    if (found.size >= most) return;
    const wanted = { ...reach, limit: limit + found.size };
    for (const n of findNumbers(database, allOf([expression, ...limits]), wanted))
      if (found.size < most) found.add(n);
  };
  const groups = known.map(({ word, corrections }) => anyOf([wordTerm(word.text), ...corrections.map(term)]));
  const rare = groups.filter((_, at) => (known[at]?.texts ?? 0) * COMMON <= extent.total);
  const narrow = rare.length > 0 ? rare : groups;
  if (narrow.length > 0) take(allOf(narrow), mostOfAll);
  if (found.size >= mostOfAll) {
    if (narrow.length < groups.length) take(allOf(groups), mostOfAll);
    const joined = listJoined(parsed.phrase ?? '').map(term);
    const expression = allOf([...joined, ...groups, ...limits]);
    if (joined.length > 0)
      for (const n of findNumbers(database, expression, { ...reach, limit: MOST_OF_A_WORD })) found.add(n);
  }
  if (narrow.length > 2 && found.size < ENOUGH)
    for (let left = 0; left < Math.min(narrow.length, 8); left++)
      take(allOf(narrow.filter((_, at) => at !== left)), MOST_OF_A_WORD);
  const takeStems = (stems: readonly string[]): void => {
    if (stems.length > 0) take(anyOf(stems.map(term)), MOST_OF_A_WORD);
  };
  for (const { word, texts } of known)
    if (texts < SCARCE && !word.isUnspaced) takeStems(listLonger(database, word));
  if (found.size < ENOUGH && groups.length > 1)
    for (const [at] of [...known.entries()].sort(([, a], [, b]) => b.weight - a.weight))
      take(groups[at] ?? '', MOST_OF_A_WORD);
  if (found.size < ENOUGH)
    for (const { word, texts, corrections } of known)
      if (texts === 0 && corrections.length === 0) takeStems(listSharing(database, word));
  return [...found];
}

const MOST_STEMS = 32;
const STEMS_LOOKED_AT = 1000;

/** Stems that a word, as it stands or by its stem, is part of. */
function listLonger(database: SqlDatabase, { text, stem }: QueryWord): string[] {
  const parts = [...new Set([text, stem])].filter((part) => gramsOf(part).length > 0);
  if (parts.length === 0) return [];
  const expression = anyOf(parts.map((part) => allOf(gramsOf(part).map(term))));
  return findStems(database, expression, STEMS_LOOKED_AT)
    .filter((longer) => parts.some((part) => longer.includes(part)))
    .slice(0, MOST_STEMS);
}

/** Stems that have enough of a word, those with most of it first. */
function listSharing(database: SqlDatabase, word: QueryWord): string[] {
  const pairs = word.grams.slice(1).map((gram, at) => allOf([word.grams[at] ?? '', gram].map(term)));
  if (pairs.length === 0) return [];
  return findStems(database, anyOf(pairs), STEMS_LOOKED_AT)
    .map((stem) => ({ stem, share: shareOf(word, stem) }))
    .filter(({ share }) => share >= LEAST_SHARE)
    .sort((a, b) => b.share - a.share)
    .slice(0, MOST_STEMS)
    .map(({ stem }) => stem);
}
