import { numberIn, textIn } from '../platform/cache-database.ts';
import type { SqlDatabase } from '../platform/sqlite.ts';
import { foldText, isUnspaced, pairsOf, splitWords, stemsOf, TAG_SIGN } from './tokens.ts';

/**
 * What texts are found by. `words` tells which texts have a stem, a tag, or two names joined by signs, and no more, which
 * makes it small; ranking looks at the texts themselves. `stems` has each stem once, and `parts` tells which of them have
 * three characters in a row: what is part of a word is looked up there, among words rather than texts. What is taken out
 * leaves nothing behind.
 */
export const CREATE_FULL_TEXT: string = `
  CREATE VIRTUAL TABLE words USING fts5(text, content='', detail=none, columnsize=0,
    tokenize="porter unicode61 categories 'L* N* M* Co'");
  CREATE TABLE stems (n INTEGER PRIMARY KEY, stem TEXT NOT NULL UNIQUE);
  CREATE VIRTUAL TABLE parts USING fts5(stem, content='', detail=none, columnsize=0, tokenize='trigram');
  INSERT INTO words(words, rank) VALUES('secure-delete', 1);
  INSERT INTO parts(parts, rank) VALUES('secure-delete', 1);
`;

/** A text by its number. Numbers that are given from low to high cost least; low ones are found first. */
export interface NumberedText {
  n: number;
  text: string;
  /** By which the text is found besides its words, made by `makeTag`. */
  tags: readonly string[];
}

export interface FullText {
  add(entry: NumberedText): void;
  /** With the very texts and tags that were added. */
  remove(entries: readonly NumberedText[]): void;
}

/** For changes to what is there. */
export function openFullText(database: SqlDatabase): FullText {
  const words = openWords(database);
  const stems = openStems(database);
  return {
    add: (entry) => {
      words.add(entry);
      for (const stem of listStems(entry.text)) stems.add(stem);
    },
    remove: (entries) => {
      words.remove(entries);
      for (const stem of new Set(entries.flatMap(({ text }) => [...listStems(text)])))
        if (!isInUse(database, stem)) stems.remove(stem);
    },
  };
}

/** What is held in memory before it is written as a piece. */
const BULK_BYTES = 6 * 1024 * 1024;

/**
 * Fills an empty database: large pieces are written and merged once, so that a look-up has one to look into, and stems are
 * noted when all is there.
 */
export function fillFullText(database: SqlDatabase, fill: (fullText: FullText) => void): void {
  configure(database, { hashsize: BULK_BYTES, automerge: 0, crisismerge: 512 });
  fill(openWords(database));
  database.prepare("INSERT INTO words(words) VALUES('optimize')").run();
  database.exec(NOTE_ALL_STEMS);
  configure(database, { hashsize: 1024 * 1024, automerge: 4, crisismerge: 64 });
}

function openWords(database: SqlDatabase): FullText {
  const add = database.prepare('INSERT INTO words(rowid, text) VALUES(?, ?)');
  const remove = database.prepare("INSERT INTO words(words, rowid, text) VALUES('delete', ?, ?)");
  return {
    add: ({ n, text, tags }) => add.run(n, spellTokens(text, tags)),
    remove: (entries) => {
      for (const { n, text, tags } of entries) remove.run(n, spellTokens(text, tags));
    },
  };
}

/** Spelled out, because `node:sqlite` binds every number as a real one, and these have to be integers. */
function configure(database: SqlDatabase, settings: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(settings))
    database.prepare(`INSERT INTO words(words, rank) VALUES('${name}', ${value})`).run();
}

/** All that a text is found by, in one text for the tokenizer. */
function spellTokens(text: string, tags: readonly string[]): string {
  const folded = withoutNul(foldText(text));
  const joined = listJoined(folded);
  if (!isUnspaced(folded)) return [folded, ...joined, ...tags].join(' ');
  const words = splitWords(folded);
  const spaced = words.filter((word) => !isUnspaced(word));
  const pairs = words.filter(isUnspaced).flatMap((word) => [...pairsOf(word), ...[...word].slice(-1)]);
  return [...spaced, ...joined, ...pairs.map((pair) => `${TAG_SIGN}${pair}`), ...tags].join(' ');
}

/** SQLite ends a text at its first NUL. */
function withoutNul(text: string): string {
  return text.replaceAll('\u0000', ' ');
}

const JOINED = /([\p{L}\p{N}\p{M}]+)[^\s\p{L}\p{N}\p{M}]+(?=([\p{L}\p{N}\p{M}]+))/gu;

/** Each two words of a folded text that only signs are between, as in paths and identifiers. */
export function listJoined(folded: string): string[] {
  if (!/[^ a-z0-9]/.test(folded)) return [];
  return Array.from(folded.matchAll(JOINED), ([, left, right]) => `${TAG_SIGN}${left}${TAG_SIGN}${right}`);
}

/** A word that no text has. It ends in a digit, which keeps the stemmer from it. */
export function makeTag(sort: string, value: string): string {
  return `${TAG_SIGN}${sort}${[...value].map(spell).join('')}0`;
}

function spell(character: string): string {
  return /^[0-9a-wyz]$/.test(character) ? character : `x${character.codePointAt(0)?.toString(16)}x`;
}

const SHORTEST_STEM = 3;
const LONGEST_STEM = 64;

/** Those that are noted: of any other, no part is looked for. */
function listStems(text: string): Set<string> {
  return new Set(
    stemsOf(text).filter((stem) => {
      const { length, 0: first = '' } = [...stem];
      const isBeforeTags = first.length === 1 && first < TAG_SIGN;
      return length >= SHORTEST_STEM && length <= LONGEST_STEM && isBeforeTags && !isUnspaced(stem);
    }),
  );
}

const NOTE_ALL_STEMS = `
  CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, row);
  INSERT INTO stems (stem) SELECT term FROM temp.vocabulary
    WHERE term < '${TAG_SIGN}' AND length(term) BETWEEN ${SHORTEST_STEM} AND ${LONGEST_STEM};
  DROP TABLE temp.vocabulary;
  INSERT INTO parts (rowid, stem) SELECT n, stem FROM stems ORDER BY n;
`;

function openStems(database: SqlDatabase): { add(stem: string): void; remove(stem: string): void } {
  const note = database.prepare('INSERT INTO stems (stem) VALUES (?) ON CONFLICT DO NOTHING RETURNING n');
  const addParts = database.prepare('INSERT INTO parts(rowid, stem) VALUES(?, ?)');
  const remove = database.prepare('DELETE FROM stems WHERE stem = ? RETURNING n');
  const removeParts = database.prepare("INSERT INTO parts(parts, rowid, stem) VALUES('delete', ?, ?)");
  return {
    add: (stem) => {
      const n = numberIn(note.get(stem), 'n');
      if (!Number.isNaN(n)) addParts.run(n, stem);
    },
    remove: (stem) => {
      const n = numberIn(remove.get(stem), 'n');
      if (!Number.isNaN(n)) removeParts.run(n, stem);
    },
  };
}

function isInUse(database: SqlDatabase, stem: string): boolean {
  return findNumbers(database, term(stem), { ...EVERYWHERE, limit: 1 }).length > 0;
}

/** What is asked of the words of texts. */
export type Expression = string;

/** Any text, as one term. Nothing in it is syntax. */
export function term(text: string): Expression {
  return `"${withoutNul(text).replaceAll('"', '""')}"`;
}

/** A word of a script without spaces, anywhere in a text. */
function unspacedTerm(word: string): Expression {
  const pairs = pairsOf(word).map((pair) => term(`${TAG_SIGN}${pair}`));
  return [...word].length === 1 ? `${pairs[0]} *` : allOf(pairs);
}

/** A word as it is looked for. */
export function wordTerm(word: string): Expression {
  return isUnspaced(word) ? unspacedTerm(word) : term(word);
}

/** A path or a name: all its words, joined as they are there. Null when there is no word in it. */
export function nameTerm(name: string): Expression | null {
  const folded = foldText(name);
  const words = splitWords(folded).map(wordTerm);
  return words.length === 0 ? null : allOf([...words, ...listJoined(folded).map(term)]);
}

export function allOf(expressions: readonly Expression[]): Expression {
  return expressions.map((expression) => `(${expression})`).join(' AND ');
}

export function anyOf(expressions: readonly Expression[]): Expression {
  return expressions.map((expression) => `(${expression})`).join(' OR ');
}

/** Numbers of texts; both ends belong to it. */
export interface Reach {
  from: number;
  to: number;
}

export const EVERYWHERE: Reach = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER };

/** The numbers of texts, lowest first; no more are looked at than there is room for. */
export function findNumbers(
  database: SqlDatabase,
  expression: Expression,
  { from, to, limit }: Reach & { limit: number },
): number[] {
  return ask(() =>
    database
      .prepare(
        'SELECT rowid AS n FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?',
      )
      .all(expression, from, to, limit)
      .map((row) => numberIn(row, 'n')),
  );
}

/** How many of these there are, and the last of them. */
export function countNumbers(
  database: SqlDatabase,
  expression: Expression,
  limit: number,
): { count: number; last: number } {
  const [counted] = ask(() => [
    database
      .prepare(
        `SELECT count(*) AS count, max(n) AS last
         FROM (SELECT rowid AS n FROM words WHERE words MATCH ? ORDER BY rowid LIMIT ?)`,
      )
      .get(expression, limit),
  ]);
  return { count: numberIn(counted, 'count') || 0, last: numberIn(counted, 'last') || 0 };
}

/** Stems by the three characters in a row that they have, the shortest first. */
export function findStems(database: SqlDatabase, expression: Expression, limit: number): string[] {
  return ask(() =>
    database
      .prepare(
        `SELECT stem FROM stems WHERE n IN (SELECT rowid FROM parts WHERE parts MATCH ?)
         ORDER BY length(stem), stem LIMIT ?`,
      )
      .all(expression, limit)
      .map((row) => textIn(row, 'stem')),
  );
}

/** Stems that begin so, of a length, without digits. They come as one text, which takes a tenth of the time of as many rows. */
export function listStemsFrom(
  database: SqlDatabase,
  start: string,
  { shortest, longest }: { shortest: number; longest: number },
): string[] {
  const row = database
    .prepare(
      `SELECT coalesce(group_concat(stem, ' '), '') AS stems FROM stems
       WHERE stem >= ? AND stem < ? AND length(stem) BETWEEN ? AND ? AND stem NOT GLOB '*[0-9]*'`,
    )
    .get(start, `${start}\u{10ffff}`, shortest, longest);
  return textIn(row, 'stems').split(' ');
}

/** A word with a letter in it that this SQLite does not know as one is several to it, for which it has no answer. */
function ask<T>(question: () => T[]): T[] {
  try {
    return question();
  } catch (error) {
    if (error instanceof Error && error.message.includes('phrase queries are not supported')) return [];
    throw error;
  }
}
