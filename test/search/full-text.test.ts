import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSqlDriver, type SqlDatabase } from '../../src/platform/sql.ts';
import {
  allOf,
  anyOf,
  beginningWith,
  CREATE_FULL_TEXT,
  findNumbers,
  makeTag,
  openFullText,
  term,
} from '../../src/search/full-text.ts';
import { parseQuery } from '../../src/search/parsed-query.ts';
import { stem } from '../../src/search/stem.ts';
import { foldText, gramsOf, stemsOf } from '../../src/search/tokens.ts';

const ALL = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, limit: 1000 };

let database: SqlDatabase;

beforeAll(() => {
  const driver = loadSqlDriver(undefined);
  if (driver === null) throw new Error('this test needs SQLite');
  database = driver.open(':memory:');
  database.exec(CREATE_FULL_TEXT);
  database.exec('CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row)');
  database.exec('CREATE VIRTUAL TABLE gram_vocabulary USING fts5vocab(grams, row)');
});

afterAll(() => database.close());

function find(table: 'words' | 'grams', expression: string): number[] {
  return findNumbers(database, { table, expression }, ALL);
}

/** What SQLite makes of a text, which is then taken out again. */
function readTerms(text: string, table: 'vocabulary' | 'gram_vocabulary'): string[] {
  const fullText = openFullText(database);
  fullText.add({ n: 1, text, tags: [] });
  const terms = database.prepare(`SELECT term FROM ${table}`).all();
  fullText.remove({ n: 1, text, tags: [] });
  return terms.map((row) => String(Reflect.get(Object(row), 'term'))).sort();
}

const word = fc.string({ unit: fc.constantFrom(...'abcdeilmnorstuyz'), minLength: 1, maxLength: 9 });
const suffix = fc.constantFrom(
  ...'s es ed ing ly ational tional enci izer bli alli ousli ization ator iveness biliti icate ative ness ful'.split(
    ' ',
  ),
  ...'al ance er able ible ant ement ment ent sion tion ism ate iti ous ive ize eed y ll e'.split(' '),
);

describe('the stemmer', () => {
  it('gives what FTS5 gives', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(word, fc.array(suffix, { maxLength: 3 })), { maxLength: 40 }),
        (parts) => {
          const text = parts.map(([start, ends]) => [start, ...ends].join('')).join(' ');
          expect([...new Set(stemsOf(text))].sort()).toEqual(readTerms(text, 'vocabulary'));
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([
    ['connections', 'connect'],
    ['retries', 'retri'],
    ['hopping', 'hop'],
    ['relational', 'relat'],
    ['databases', 'databas'],
  ])('takes %s to %s', (given, expected) => expect(stem(given)).toBe(expected));
});

describe('the three characters of a text', () => {
  it('are those of FTS5', () => {
    const text = fc.string({ unit: fc.constantFrom(...'abc xyz/._-дбщ接続中'), minLength: 3, maxLength: 40 });
    fc.assert(
      fc.property(text, (given) => {
        expect(gramsOf(`${foldText(given)}  `).sort()).toEqual(readTerms(given, 'gram_vocabulary'));
      }),
    );
  });
});

describe('a query', () => {
  it('is never syntax, whatever is in it', () => {
    const signs = fc.string({
      unit: fc.constantFrom(...`"'*()^:+-{}\\NEAR ANDORT\u0000\ue000é接`),
      maxLength: 30,
    });
    fc.assert(
      fc.property(fc.oneof(signs, fc.string({ unit: 'binary' })), (text) => {
        expect(find('words', term(text))).toBeInstanceOf(Array);
        for (const { text: each, grams } of parseQuery(text).words) {
          expect(find('words', allOf([term(each), anyOf([term(each)])]))).toBeInstanceOf(Array);
          expect(beginningWith(database, each)).toBeNull();
          for (const gram of grams) expect(find('grams', term(gram))).toBeInstanceOf(Array);
        }
      }),
      { numRuns: 500 },
    );
  });

  const letters = fc.constantFrom(...'abgsy09 ÀéßøŁ ЖжЯ Σσς हिन्दी ابج 接続中あア._-/"(', '\n');

  it('finds each word of a text that holds it', () => {
    const fullText = openFullText(database);
    fc.assert(
      fc.property(fc.string({ unit: letters, minLength: 1, maxLength: 30 }), (text) => {
        fullText.add({ n: 7, text, tags: [] });
        try {
          for (const { text: each, isUnspaced, grams } of parseQuery(text).words) {
            if (!isUnspaced) expect(find('words', term(each))).toEqual([7]);
            for (const gram of grams) expect(find('grams', term(gram))).toEqual([7]);
          }
        } finally {
          fullText.remove({ n: 7, text, tags: [] });
        }
      }),
    );
  });

  it('cannot ask for a tag', () => {
    const fullText = openFullText(database);
    const entry = { n: 3, text: 'plain', tags: [makeTag('p', 'p-secret')] };
    fullText.add(entry);
    expect(find('words', term(makeTag('p', 'p-secret')))).toEqual([3]);
    const asked = parseQuery(makeTag('p', 'p-secret')).words.map(({ text }) => term(text));
    expect(asked.flatMap((expression) => find('words', expression))).toEqual([]);
    fullText.remove(entry);
  });
});

describe('one or two characters', () => {
  it('are found anywhere, also at the end', () => {
    const fullText = openFullText(database);
    const texts = ['データベース接続', '接続エラー', 'プール'];
    for (const [n, text] of texts.entries()) fullText.add({ n, text, tags: [] });
    expect(find('grams', beginningWith(database, '接続') ?? '')).toEqual([0, 1]);
    expect(find('grams', beginningWith(database, '続') ?? '')).toEqual([0, 1]);
    expect(beginningWith(database, '猫')).toBeNull();
    for (const [n, text] of texts.entries()) fullText.remove({ n, text, tags: [] });
  });
});

describe('tags', () => {
  it('are told apart, and left as they are by the stemmer', () => {
    const fullText = openFullText(database);
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 12 }), { maxLength: 12 }),
        (values) => {
          const entries = values.map((value, n) => ({ n, text: '', tags: [makeTag('p', value)] }));
          for (const entry of entries) fullText.add(entry);
          const found = values.map((value) => find('words', term(makeTag('p', value))));
          for (const entry of entries) fullText.remove(entry);
          expect(found).toEqual(values.map((_, n) => [n]));
        },
      ),
    );
  });
});
