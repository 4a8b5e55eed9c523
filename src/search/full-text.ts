import { numberIn, RowDamage } from '../platform/cache-database.ts';
import type { SqlDatabase, SqlValue } from '../platform/sqlite.ts';
import { computeMark } from '../store/index-schema.ts';
import { FULL_RANGE, findNumbers, term } from './retrieve.ts';
import { foldText, isUnspaced, listJoined, pairsOf, splitWords, stemWord, TAG_SIGN } from './tokens.ts';

/**
 * The full-text tables of an index. `words` maps stems, tags and joined names to texts and stores nothing else, which
 * keeps it small: ranking reads the texts themselves. `stems` lists each stem once and `parts` its trigrams, so that
 * parts of words are looked up among words rather than texts. What is removed leaves nothing behind.
 */
export const CREATE_FULL_TEXT: string = `
  CREATE VIRTUAL TABLE words USING fts5(text, content='', detail=none, columnsize=0,
    tokenize="porter unicode61 categories 'L* N* M* Co'");
  CREATE TABLE stems (n INTEGER PRIMARY KEY, stem TEXT NOT NULL UNIQUE);
  CREATE VIRTUAL TABLE parts USING fts5(stem, content='', detail=none, columnsize=0, tokenize='trigram');
  INSERT INTO words(words, rank) VALUES('secure-delete', 1);
  INSERT INTO parts(parts, rank) VALUES('secure-delete', 1);
`;

/** A text by its number. Ascending numbers are the cheapest to add; low ones are found first. */
export interface NumberedText {
  n: number;
  text: string;
  /** Tokens made by `makeTag` by which the text is found besides its words. */
  tags: readonly string[];
}

export interface FullText {
  add(entry: NumberedText): void;
  /** Must be called with the very texts and tags that were added. */
  remove(entries: readonly NumberedText[]): void;
}

export function openFullText(database: SqlDatabase): FullText {
  const words = openWords(database);
  const stems = openStems(database);
  const noted = new Set<string>();
  return {
    add: (entry) => {
      words.add(entry);
      for (const stem of listStems(entry.text, noted)) stems.add(stem);
    },
    remove: (entries) => {
      words.remove(entries);
      noted.clear();
      for (const stem of new Set(entries.flatMap(({ text }) => [...listStems(text)])))
        if (findNumbers(database, term(stem), { ...FULL_RANGE, limit: 1 }).length === 0) stems.remove(stem);
    },
  };
}

/** Fills an empty database in bulk: large segments are written and merged once, and stems are noted at the end. */
export function fillFullText(database: SqlDatabase, fill: (fullText: FullText) => void): void {
  configure(database, { hashsize: 6 * 1024 * 1024, automerge: 0, crisismerge: 512 });
  fill(openWords(database));
  database.prepare("INSERT INTO words(words) VALUES('optimize')").run();
  database.exec(NOTE_ALL_STEMS);
  configure(database, { hashsize: 1024 * 1024, automerge: 4, crisismerge: 64 });
}

function openWords(database: SqlDatabase): FullText {
  const add = database.prepare('INSERT INTO words(rowid, text) VALUES(?, ?)');
  const remove = database.prepare("INSERT INTO words(words, rowid, text) VALUES('delete', ?, ?)");
  return {
    add: (entry) => add.run(entry.n, spellTokens(entry)),
    remove: (entries) => {
      for (const entry of entries) remove.run(entry.n, spellTokens(entry));
    },
  };
}

/** Values are spelled out because `node:sqlite` binds every number as a real, and these must be integers. */
function configure(database: SqlDatabase, settings: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(settings))
    database.prepare(`INSERT INTO words(words, rank) VALUES('${name}', ${value})`).run();
}

/** Everything a text is found by, as one text for the tokenizer. SQLite ends a text at its first NUL. */
function spellTokens({ text, tags }: NumberedText): string {
  const folded = foldText(text).replaceAll('\u0000', ' ');
  const joined = listJoined(folded);
  if (!isUnspaced(folded)) return [folded, ...joined, ...tags].join(' ');
  const words = splitWords(folded);
  const spaced = words.filter((word) => !isUnspaced(word));
  const pairs = words.filter(isUnspaced).flatMap((word) => [...pairsOf(word), ...[...word].slice(-1)]);
  return [...spaced, ...joined, ...pairs.map((pair) => `${TAG_SIGN}${pair}`), ...tags].join(' ');
}

const MIN_STEM_LENGTH = 3;
const MAX_STEM_LENGTH = 64;

/** The stems of a text that are noted in `stems`, less those of words met before. Must agree with `NOTE_ALL_STEMS`. */
function listStems(text: string, met: Set<string> = new Set()): Set<string> {
  const stems = new Set<string>();
  for (const word of splitWords(foldText(text))) {
    if (met.has(word)) continue;
    met.add(word);
    const stem = stemWord(word);
    const { length, 0: first = '' } = [...stem];
    const isBeforeTags = first.length === 1 && first < TAG_SIGN;
    if (length >= MIN_STEM_LENGTH && length <= MAX_STEM_LENGTH && isBeforeTags && !isUnspaced(stem)) stems.add(stem);
  }
  return stems;
}

const NOTE_ALL_STEMS = `
  CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, row);
  INSERT INTO stems (stem) SELECT term FROM temp.vocabulary
    WHERE term < '${TAG_SIGN}' AND length(term) BETWEEN ${MIN_STEM_LENGTH} AND ${MAX_STEM_LENGTH};
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

/** A table of an index whose last column, `mark`, is a fingerprint of the others. */
export interface MarkedTable {
  /** All columns, for SQL. */
  columns: string;
  prepareInsert(database: SqlDatabase): (values: readonly SqlValue[]) => void;
  /** Throws `RowDamage` when a row is missing or not as it was written, which SQLite itself may not notice. */
  check(row: unknown): void;
}

/** The columns are given without `mark`, separated by spaces. */
export function describeTable(name: string, spaced: string): MarkedTable {
  const columns = spaced.split(' ');
  const all = [...columns, 'mark'].join(', ');
  return {
    columns: all,
    prepareInsert: (database) => {
      const insert = database.prepare(`INSERT INTO ${name} (${all}) VALUES (${'?, '.repeat(columns.length)}?)`);
      return (values) => insert.run(...values, computeMark(values));
    },
    check: (row) => {
      const values = columns.map((column): unknown => Reflect.get(Object(row), column));
      if (computeMark(values) !== numberIn(row, 'mark')) throw new RowDamage();
    },
  };
}
