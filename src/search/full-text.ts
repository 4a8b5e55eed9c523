import type { SqlDatabase, SqlStatement } from '../platform/sql.ts';
import { numberIn, textIn } from '../store/cache-database.ts';
import { foldText, TAG_SIGN } from './tokens.ts';

/**
 * Two full-text tables over the same texts: by the stems of words, and by every three characters. They keep no text and
 * no positions, only which text has what, which makes them small; ranking looks at the texts themselves. What is taken
 * out leaves nothing behind.
 */
export const CREATE_FULL_TEXT: string = `
  CREATE VIRTUAL TABLE words USING fts5(text, content='', detail=none, columnsize=0, 
    tokenize="porter unicode61 categories 'L* N* M* Co'");
  CREATE VIRTUAL TABLE grams USING fts5(text, content='', detail=none, columnsize=0, tokenize='trigram');
  CREATE VIRTUAL TABLE gram_terms USING fts5vocab(grams, row);
  INSERT INTO words(words, rank) VALUES('secure-delete', 1);
  INSERT INTO grams(grams, rank) VALUES('secure-delete', 1);
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
  /** With the very text and tags that were added. */
  remove(entry: NumberedText): void;
}

export function openFullText(database: SqlDatabase): FullText {
  const addWords = database.prepare('INSERT INTO words(rowid, text) VALUES(?, ?)');
  const addGrams = database.prepare('INSERT INTO grams(rowid, text) VALUES(?, ?)');
  const removeWords = database.prepare("INSERT INTO words(words, rowid, text) VALUES('delete', ?, ?)");
  const removeGrams = database.prepare("INSERT INTO grams(grams, rowid, text) VALUES('delete', ?, ?)");
  const run = (words: SqlStatement, grams: SqlStatement, { n, text, tags }: NumberedText): void => {
    const folded = withoutNul(foldText(text));
    words.run(n, [folded, ...tags].join(' '));
    // With room at the end, the last characters begin three characters as well.
    grams.run(n, `${folded}  `);
  };
  return {
    add: (entry) => run(addWords, addGrams, entry),
    remove: (entry) => run(removeWords, removeGrams, entry),
  };
}

/** SQLite ends a text at its first NUL. */
function withoutNul(text: string): string {
  return text.replaceAll('\u0000', ' ');
}

/** A word that no text has. It ends in a digit, which keeps the stemmer from it. */
export function makeTag(sort: string, value: string): string {
  return `${TAG_SIGN}${sort}${[...value].map(spell).join('')}0`;
}

function spell(character: string): string {
  return /^[0-9a-wyz]$/.test(character) ? character : `x${character.codePointAt(0)?.toString(16)}x`;
}

/** For filling an empty database at once: larger pieces are written, and none is merged. */
export function prepareBulk(database: SqlDatabase): void {
  configure(database, { hashsize: 12 * 1024 * 1024, automerge: 0, crisismerge: 512 });
}

export function finishBulk(database: SqlDatabase): void {
  configure(database, { hashsize: 1024 * 1024, automerge: 4, crisismerge: 64 });
}

/** Cast, because `node:sqlite` binds every number as a real one, and FTS5 takes only integers here. */
function configure(database: SqlDatabase, settings: Readonly<Record<string, number>>): void {
  for (const table of ['words', 'grams'])
    for (const [name, value] of Object.entries(settings))
      database.prepare(`INSERT INTO ${table}(${table}, rank) VALUES(?, CAST(? AS INTEGER))`).run(name, value);
}

/** What is asked of one of the two tables. */
export type Expression = string;

/** Any text, as one term. Nothing in it is syntax. */
export function term(text: string): Expression {
  return `"${withoutNul(text).replaceAll('"', '""')}"`;
}

const MOST_BEGINNINGS = 64;

/** For one or two characters: any three that begin with them. Null when there are none. */
export function beginningWith(database: SqlDatabase, text: string): Expression | null {
  const terms = database
    .prepare('SELECT term FROM gram_terms WHERE term >= ? AND term < ? LIMIT ?')
    .all(text, `${text}\u{10ffff}`, MOST_BEGINNINGS);
  return terms.length === 0 ? null : anyOf(terms.map((row) => term(textIn(row, 'term'))));
}

export function allOf(expressions: readonly Expression[]): Expression {
  return expressions.map((expression) => `(${expression})`).join(' AND ');
}

export function anyOf(expressions: readonly Expression[]): Expression {
  return expressions.map((expression) => `(${expression})`).join(' OR ');
}

export interface Scope {
  /** Both ends belong to it. */
  from: number;
  to: number;
  limit: number;
}

/** The numbers of texts, lowest first; no more are looked at than the scope has room for. */
export function findNumbers(
  database: SqlDatabase,
  { table, expression }: { table: 'words' | 'grams'; expression: Expression },
  { from, to, limit }: Scope,
): number[] {
  try {
    return database
      .prepare(
        `SELECT rowid AS n FROM ${table} WHERE ${table} MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?`,
      )
      .all(expression, from, to, limit)
      .map((row) => numberIn(row, 'n'));
  } catch (error) {
    if (isUnanswerable(error)) return [];
    throw error;
  }
}

/** A word with a letter in it that this SQLite does not know as one is several to it, for which it has no answer. */
function isUnanswerable(error: unknown): boolean {
  return error instanceof Error && error.message.includes('phrase queries are not supported');
}
