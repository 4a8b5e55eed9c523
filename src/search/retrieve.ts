import { catchIf } from '../errors.ts';
import type { FactKind } from '../model/fact.ts';
import { numberIn, textIn } from '../platform/cache-database.ts';
import type { SqlDatabase, SqlValue } from '../platform/sqlite.ts';
import { tagOfAgent, tagOfKind, tagOfProject } from './finder.ts';
import type { ParsedQuery, QueryWord } from './query.ts';
import { MIN_SHARE, shareOf, type TermStats } from './rank.ts';
import { makeTermStats } from './term-stats.ts';
import { foldText, gramsOf, isUnspaced, listJoined, pairsOf, splitWords, TAG_SIGN } from './tokens.ts';
import { allowedErrors, MAX_STEM, MIN_STEM } from './typos.ts';

/** An FTS5 query over `words` or `parts`. */
export type Expression = string;

/** Any text as one term. Nothing in it is taken for syntax. */
export function term(text: string): Expression {
  return `"${text.replaceAll('\u0000', ' ').replaceAll('"', '""')}"`;
}

export function wordTerm(word: string): Expression {
  if (!isUnspaced(word)) return term(word);
  const pairs = pairsOf(word).map((pair) => term(`${TAG_SIGN}${pair}`));
  return [...word].length === 1 ? `${pairs[0]} *` : allOf(pairs);
}

/** A path or a name: all its words, joined as they are there. Null when it has no word. */
function nameTerm(name: string): Expression | null {
  const folded = foldText(name);
  const words = splitWords(folded).map(wordTerm);
  return words.length === 0 ? null : allOf([...words, ...listJoined(folded).map(term)]);
}

export function allOf(expressions: readonly Expression[]): Expression {
  return join(expressions, ' AND ');
}

export function anyOf(expressions: readonly Expression[]): Expression {
  return join(expressions, ' OR ');
}

function join(expressions: readonly Expression[], operator: string): Expression {
  const [only = ''] = expressions;
  return expressions.length < 2 ? only : expressions.map((expression) => `(${expression})`).join(operator);
}

/** A range of text numbers, both ends included. */
export type NumberRange = { from: number; to: number };

export type LimitedRange = NumberRange & { limit: number };

export const FULL_RANGE: NumberRange = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER };

export function findNumbers(database: SqlDatabase, expression: Expression, page: LimitedRange): number[] {
  const sql = 'SELECT rowid AS n FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?';
  return askFts(database, sql, [expression, page.from, page.to, page.limit]).map((row) => numberIn(row, 'n'));
}

/** Stems by their trigrams, the shortest first. */
export function findStems(database: SqlDatabase, expression: Expression, limit: number): string[] {
  const sql = `SELECT stem FROM stems WHERE n IN (SELECT rowid FROM parts WHERE parts MATCH ?)
    ORDER BY length(stem), stem LIMIT ?`;
  return askFts(database, sql, [expression, limit]).map((row) => textIn(row, 'stem'));
}

/** A letter that this SQLite does not know splits a term into a phrase, which `detail=none` cannot answer. */
export function askFts(database: SqlDatabase, sql: string, values: readonly SqlValue[]): unknown[] {
  const isPhrase = (error: unknown): boolean =>
    error instanceof Error && error.message.includes('phrase queries are not supported');
  return catchIf(isPhrase, [], () => database.prepare(sql).all(...values));
}

/** About how many texts there are, and how many have what is asked for. */
export type IndexExtent = { total: number; count(expression: Expression): number };

export function lookUpTerms(database: SqlDatabase, parsed: ParsedQuery, { total, count }: IndexExtent): TermStats[] {
  return makeTermStats(parsed, {
    total,
    countWord: ({ text }) => count(wordTerm(text)),
    countStem: (stem) => count(term(stem)),
    listStemsNear: (stem) => listStemsNear(database, stem),
    listStemsWith: (parts) => listLonger(database, parts),
  });
}

const MAX_COUNTED = 400;

/** The newest texts are counted; the range that they span, of that of all, gives an estimate of the total. */
export function estimateCount(database: SqlDatabase, expression: Expression, { from, to }: NumberRange): number {
  const sql = `SELECT count(*) AS count, max(n) AS last
    FROM (SELECT rowid AS n FROM words WHERE words MATCH ? ORDER BY rowid LIMIT ?)`;
  const [row] = askFts(database, sql, [expression, MAX_COUNTED]);
  const [count, last] = [numberIn(row, 'count') || 0, numberIn(row, 'last') || 0];
  if (count < MAX_COUNTED || last >= to) return count;
  return Math.round((count * (to - from + 1)) / Math.max(1, last - from + 1));
}

/**
 * Stems without digits and of about the same length, with the same first letter or the first two swapped: few people
 * mistype the first one. They are read as one text, which takes a tenth of the time of as many rows.
 */
function listStemsNear(database: SqlDatabase, stem: string): string[] {
  const [first = '', second = ''] = stem;
  const errors = allowedErrors(stem);
  const shortest = Math.max(MIN_STEM, stem.length - errors);
  const longest = Math.min(MAX_STEM, stem.length + errors);
  const find = database.prepare(
    `SELECT coalesce(group_concat(stem, ' '), '') AS stems FROM stems
     WHERE stem >= ? AND stem < ? AND length(stem) BETWEEN ? AND ? AND stem NOT GLOB '*[0-9]*'`,
  );
  return [...new Set([first, `${second}${first}`])].flatMap((start) =>
    textIn(find.get(start, `${start}\u{10ffff}`, shortest, longest), 'stems').split(' '),
  );
}

/** Undefined means no limit. */
export interface Limits {
  kinds?: readonly FactKind[] | undefined;
  agent?: string | undefined;
  file?: string | undefined;
  /** Their ids. */
  projects?: readonly string[] | undefined;
}

/** What every text must contain besides words of the query. */
export function limitTerms({ kinds, agent, file, projects }: Limits): Expression[] {
  const name = file === undefined ? null : nameTerm(file);
  const limits = name === null ? [] : [name];
  if (kinds !== undefined) limits.push(anyOf(kinds.map((kind) => term(tagOfKind(kind)))));
  if (agent !== undefined) limits.push(term(tagOfAgent(agent)));
  if (projects !== undefined) limits.push(anyOf(projects.map((id) => term(tagOfProject(id)))));
  return limits;
}

export interface Retrieval {
  parsed: ParsedQuery;
  known: readonly TermStats[];
  total: number;
  /** What every text must contain besides. */
  limits: readonly Expression[];
  /** Finds at most so many texts. */
  find(expression: Expression, limit: number): number[];
  limit: number;
  /** How many texts are to be ranked: more would cost time and hardly change the first places. */
  ranked: number;
}

const ENOUGH = 40;
/** A word that more than one text in this many has is too common to narrow a search. */
const COMMON = 20;
/** A word that fewer texts than this have is also looked for inside longer words. */
const SCARCE = 10;

/**
 * The numbers of candidate texts: those with all words, or with the path or name as it stands; then with all words but
 * one; then with scarce words inside longer ones; then with single words, the rarest first; last with parts of words.
 * Of frequent matches the newest are taken.
 */
export function retrieveNumbers(database: SqlDatabase, retrieval: Retrieval): number[] {
  const { known, parsed, limits, total, find } = retrieval;
  const most = Math.max(retrieval.ranked, 2 * retrieval.limit);
  const mostOfAll = Math.max(0.4 * retrieval.ranked, 2 * retrieval.limit);
  const mostOfOne = Math.round(retrieval.ranked / 3);
  const found = new Set<number>();
  const take = (expression: Expression, limit: number): void => {
    if (found.size >= most) return;
    for (const n of find(allOf([expression, ...limits]), limit + found.size)) if (found.size < most) found.add(n);
  };
  const groups = known.map(({ word, corrections }) => anyOf([wordTerm(word.text), ...corrections.map(term)]));
  const rare = groups.filter((_, at) => (known[at]?.texts ?? 0) * COMMON <= total);
  const narrow = rare.length > 0 ? rare : groups;
  if (narrow.length > 0) take(allOf(narrow), mostOfAll);
  if (found.size >= mostOfAll) {
    if (narrow.length < groups.length) take(allOf(groups), mostOfAll);
    const joined = listJoined(parsed.phrase ?? '').map(term);
    const expression = allOf([...joined, ...groups, ...limits]);
    if (joined.length > 0) for (const n of find(expression, mostOfOne)) found.add(n);
  }
  if (narrow.length > 2 && found.size < ENOUGH)
    for (let left = 0; left < Math.min(narrow.length, 8); left++)
      take(allOf(narrow.filter((_, at) => at !== left)), mostOfOne);
  const takeStems = (stems: readonly string[]): void => {
    if (stems.length > 0) take(anyOf(stems.map(term)), mostOfOne);
  };
  for (const { word, texts } of known)
    if (texts < SCARCE && !word.isUnspaced) takeStems(listLonger(database, [word.text, word.stem]));
  if (found.size < ENOUGH && groups.length > 1)
    for (const [at] of [...known.entries()].sort(([, a], [, b]) => b.weight - a.weight))
      take(groups[at] ?? '', mostOfOne);
  if (found.size < ENOUGH)
    for (const { word, texts, corrections } of known)
      if (texts === 0 && corrections.length === 0) takeStems(listSharing(database, word));
  return [...found];
}

const MAX_STEMS = 32;
const MAX_STEMS_CHECKED = 1000;

/** Stems that contain one of these. */
function listLonger(database: SqlDatabase, words: readonly string[]): string[] {
  const parts = [...new Set(words)].filter((part) => gramsOf(part).length > 0);
  if (parts.length === 0) return [];
  const expression = anyOf(parts.map((part) => allOf(gramsOf(part).map(term))));
  return findStems(database, expression, MAX_STEMS_CHECKED)
    .filter((longer) => parts.some((part) => longer.includes(part)))
    .slice(0, MAX_STEMS);
}

/** Stems that share enough trigrams with a word, the closest first. */
function listSharing(database: SqlDatabase, word: QueryWord): string[] {
  const pairs = word.grams.slice(1).map((gram, at) => allOf([word.grams[at] ?? '', gram].map(term)));
  if (pairs.length === 0) return [];
  return findStems(database, anyOf(pairs), MAX_STEMS_CHECKED)
    .map((stem) => ({ stem, share: shareOf(word, stem) }))
    .filter(({ share }) => share >= MIN_SHARE)
    .sort((a, b) => b.share - a.share)
    .slice(0, MAX_STEMS)
    .map(({ stem }) => stem);
}
