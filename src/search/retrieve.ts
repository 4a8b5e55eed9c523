import type { SqlDatabase } from '../platform/sql.ts';
import { textIn } from '../store/cache-database.ts';
import { allOf, anyOf, beginningWith, type Expression, findNumbers, term } from './full-text.ts';
import { findAlike } from './misspelt.ts';
import type { ParsedQuery, QueryWord } from './parsed-query.ts';
import { type KnownWord, weighWord } from './rank.ts';
import { LOWEST_NUMBER } from './search-schema.ts';
import { gramsOf } from './tokens.ts';

/** So many of a word's newest texts are counted; how many there are in all follows from how far back they reach. */
const COUNTED = 400;

/** Looks up how rare the words of a query are, and, of one that no text has, which ones may be meant. */
export function knowWords(database: SqlDatabase, { words }: ParsedQuery, extent: Extent): KnownWord[] {
  const { total } = extent;
  return words.map((word) => {
    const count = estimate(database, { table: 'words', expression: term(word.text) }, extent);
    const alike =
      count > 0 || word.isUnspaced ? [] : findAlike(word.stem, listStemsNear(database, word.stem));
    const counts = alike.map((stem) =>
      estimate(database, { table: 'words', expression: term(stem) }, extent),
    );
    return {
      word,
      texts: count,
      weight: weighWord(Math.min(Math.max(count, ...counts), total), total),
      alike,
    };
  });
}

/** From the newest text to the oldest. */
interface Reach {
  from: number;
  to: number;
}

/** How many texts there are, about, and which numbers they have. */
export interface Extent extends Reach {
  total: number;
}

interface Lookup {
  table: 'words' | 'grams';
  expression: Expression;
}

/** About how many texts there are; exact while they are few. */
function estimate(database: SqlDatabase, lookup: Lookup, reach: Reach, counted = COUNTED): number {
  const found = findNumbers(database, lookup, {
    from: LOWEST_NUMBER,
    to: Number.MAX_SAFE_INTEGER,
    limit: counted,
  });
  const last = found.at(-1) ?? 0;
  if (found.length < counted || last >= reach.to) return found.length;
  return Math.round((found.length * (reach.to - reach.from + 1)) / Math.max(1, last - reach.from + 1));
}

/** Stems with the same first letter, or with the first two swapped: few people mistype the first one. */
function listStemsNear(database: SqlDatabase, stem: string): string[] {
  const [first = '', second = ''] = stem;
  const find = database.prepare(
    'SELECT stem FROM stems WHERE stem >= ? AND stem < ? AND length(stem) BETWEEN ? AND ?',
  );
  const starts = new Set([first, `${second}${first}`]);
  return [...starts].flatMap((start) =>
    find.all(start, endOfStart(start), stem.length - 2, stem.length + 2).map((row) => textIn(row, 'stem')),
  );
}

function endOfStart(start: string): string {
  return start === '' ? '' : `${start}\u{10ffff}`;
}

interface Request {
  parsed: ParsedQuery;
  known: readonly KnownWord[];
  extent: Extent;
  /** What every text must have besides. */
  limits: readonly Expression[];
}

/** Texts to be ranked: more would cost more time than they can change of the first places. */
const MOST = 300;
const MOST_OF_A_WORD = 100;
const ENOUGH = 40;
/** A word that so few texts have may be part of a longer one in others. */
const SCARCE = 10;

/**
 * The numbers of texts that may be what is looked for: what has all words, or the phrase, then all words but one, then
 * scarce words within longer ones, then single words, the rarest first, and last what has parts of words. Of what is
 * frequent the newest are taken.
 */
export function gatherNumbers(database: SqlDatabase, request: Request, scope: Reach): number[] {
  const found = new Set<number>();
  const take = (lookup: Lookup, limit: number): void => {
    const room = Math.min(limit, MOST - found.size);
    if (room <= 0) return;
    const limits = lookup.table === 'words' ? request.limits : [];
    const expression = allOf([lookup.expression, ...limits]);
    for (const n of findNumbers(database, { ...lookup, expression }, { ...scope, limit: limit + found.size }))
      if (found.size < MOST) found.add(n);
  };
  /** Room is made for what has the phrase. */
  const takeAhead = (lookup: Lookup): void => {
    for (const n of findNumbers(database, lookup, { ...scope, limit: MOST_OF_A_WORD })) found.add(n);
  };
  const { known, parsed, extent } = request;
  const pick: Pick = (grams) => pickRarest(database, grams, extent);
  const words = known.filter(({ word }) => !word.isUnspaced);
  const groups = words.map(({ word, alike }) => anyOf([word.text, ...alike].map(term)));
  if (groups.length > 0) take({ table: 'words', expression: allOf(groups) }, MOST);
  // Unless all of them were found, what has the phrase is among those that have its words.
  if (parsed.phrase !== null && (found.size === 0 || found.size >= MOST)) {
    const grams = pick(gramsOf(parsed.phrase));
    if (grams.length > 0) takeAhead({ table: 'grams', expression: allOf(grams.map(term)) });
  }
  if (groups.length > 2 && found.size < ENOUGH)
    for (let left = 0; left < Math.min(groups.length, 8); left++)
      take({ table: 'words', expression: allOf(groups.filter((_, at) => at !== left)) }, MOST_OF_A_WORD);
  for (const { word, texts } of known)
    if (texts < SCARCE || word.isUnspaced) takeByGrams(database, word, { take, pick });
  if (found.size < ENOUGH && groups.length > 1)
    for (const [at] of [...words.entries()].sort(([, a], [, b]) => b.weight - a.weight))
      take({ table: 'words', expression: groups[at] ?? '' }, MOST_OF_A_WORD);
  if (found.size < ENOUGH)
    for (const { word } of known.filter(({ texts, alike }) => texts === 0 && alike.length === 0)) {
      const pairs = word.grams.slice(1).map((gram, at) => allOf([word.grams[at] ?? '', gram].map(term)));
      if (pairs.length > 0) take({ table: 'grams', expression: anyOf(pairs) }, MOST_OF_A_WORD);
    }
  return [...found];
}

type Take = (lookup: Lookup, limit: number) => void;
type Pick = (grams: readonly string[]) => string[];

/** The word anywhere, also within a longer one. */
function takeByGrams(
  database: SqlDatabase,
  { text, grams, isUnspaced }: QueryWord,
  { take, pick }: { take: Take; pick: Pick },
): void {
  if (grams.length > 0) take({ table: 'grams', expression: allOf(pick(grams).map(term)) }, MOST_OF_A_WORD);
  const expression = grams.length === 0 && isUnspaced ? beginningWith(database, text) : null;
  if (expression !== null) take({ table: 'grams', expression }, MOST_OF_A_WORD);
}

const MOST_GRAMS = 6;
const COUNTED_GRAMS = 100;

/** A few narrow the choice down as well as all of them would. */
function pickRarest(database: SqlDatabase, grams: readonly string[], extent: Extent): string[] {
  if (grams.length <= MOST_GRAMS) return [...grams];
  return grams
    .slice(0, 64)
    .map((gram) => ({
      gram,
      count: estimate(database, { table: 'grams', expression: term(gram) }, extent, COUNTED_GRAMS),
    }))
    .sort((a, b) => a.count - b.count)
    .slice(0, MOST_GRAMS)
    .map(({ gram }) => gram);
}
