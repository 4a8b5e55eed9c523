import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSqlDriver, type SqlDatabase } from '../../src/platform/sqlite.ts';
import { CREATE_FULL_TEXT, fillFullText, openFullText } from '../../src/search/full-text.ts';
import { parseQuery } from '../../src/search/query.ts';
import { allOf, anyOf, FULL_RANGE, findNumbers, findStems, term, wordTerm } from '../../src/search/retrieve.ts';
import {
  foldText,
  gramsOf,
  listJoined,
  makeStemPicker,
  makeTag,
  splitWords,
  stemWord,
} from '../../src/search/tokens.ts';

const ALL = { ...FULL_RANGE, limit: 1000 };

let database: SqlDatabase;

beforeAll(() => {
  const driver = loadSqlDriver(undefined);
  if (driver === null) throw new Error('this test needs SQLite');
  database = driver.open(':memory:');
  database.exec(CREATE_FULL_TEXT);
  database.exec('CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row)');
  database.exec('CREATE VIRTUAL TABLE part_vocabulary USING fts5vocab(parts, row)');
});

afterAll(() => database.close());

function find(expression: string): number[] {
  return findNumbers(database, expression, ALL);
}

/** What SQLite makes of a text, which is then taken out again. */
function readTerms(text: string, table: 'vocabulary' | 'part_vocabulary'): string[] {
  const fullText = openFullText(database);
  fullText.add({ n: 1, text, tags: [] });
  const terms = database.prepare(`SELECT term FROM ${table}`).all();
  fullText.remove([{ n: 1, text, tags: [] }]);
  return terms.map((row) => String(Reflect.get(Object(row), 'term'))).sort();
}

const stemsOf = (text: string): string[] => splitWords(foldText(text)).map(stemWord);

const word = fc.string({ unit: fc.constantFrom(...'abcdeilmnorstuyzßдﬁ'), minLength: 1, maxLength: 9 });
const suffix = fc.constantFrom(
  ...'s es ed ing ly ational tional enci izer bli alli ousli ization ator iveness biliti icate ative ness ful'.split(
    ' ',
  ),
  ...'al ance er able ible ant ement ment ent sion tion ism ate iti ous ive ize eed y ll e'.split(' '),
);

describe('the stemmer', () => {
  it('gives the same stems as FTS5', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(word, fc.array(suffix, { maxLength: 3 })), { maxLength: 40 }), (parts) => {
        const text = parts.map(([start, ends]) => [start, ...ends].join('')).join(' ');
        expect([...new Set(stemsOf(text))].sort()).toEqual(readTerms(text, 'vocabulary'));
      }),
      { numRuns: 300 },
    );
  });

  it('returns exactly the requested stems', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(word, fc.array(suffix, { maxLength: 3 })), { minLength: 1, maxLength: 20 }),
        (parts) => {
          const words = parts.map(([start, ends]) => [start, ...ends].join(''));
          const wanted = new Set(words.filter((_, at) => at % 2 === 0).map(stemWord));
          const { pick } = makeStemPicker(wanted);
          for (const each of words) expect(pick(each)).toBe(wanted.has(stemWord(each)) ? stemWord(each) : null);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['connections', 'connect'],
    ['retries', 'retri'],
    ['hopping', 'hop'],
    ['relational', 'relat'],
    ['databases', 'databas'],
    ['eeds', 'e'],
    ['sses', 'sse'],
    ['yying', 'y'],
    ['ruyyed', 'rui'],
  ])('takes %s to %s', (given, expected) => expect(stemWord(given)).toBe(expected));
});

describe('trigrams of a stem', () => {
  it('are the same as those of FTS5', () => {
    const text = fc.string({ unit: fc.constantFrom(...'abc xyz/._-дбщ'), minLength: 3, maxLength: 40 });
    fc.assert(
      fc.property(text, (given) => {
        const grams = new Set(stemsOf(given).flatMap(gramsOf));
        expect([...grams].sort()).toEqual(readTerms(given, 'part_vocabulary'));
      }),
    );
  });
});

describe('a full-text query', () => {
  it('is never interpreted as syntax', () => {
    const signs = fc.string({
      unit: fc.constantFrom(...`"'*()^:+-{}\\NEAR ANDORT\u0000\ue000é接`),
      maxLength: 30,
    });
    fc.assert(
      fc.property(fc.oneof(signs, fc.string({ unit: 'binary' })), (text) => {
        expect(find(term(text))).toBeInstanceOf(Array);
        for (const { text: each, grams } of parseQuery(text).words) {
          expect(find(allOf([term(each), anyOf([term(each)])]))).toBeInstanceOf(Array);
          expect(find(wordTerm(each))).toBeInstanceOf(Array);
          for (const gram of grams) expect(findStems(database, term(gram), 10)).toEqual([]);
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
          for (const { text: each } of parseQuery(text).words) expect(find(wordTerm(each))).toEqual([7]);
          for (const joined of listJoined(foldText(text))) expect(find(term(joined))).toEqual([7]);
        } finally {
          fullText.remove([{ n: 7, text, tags: [] }]);
        }
      }),
    );
  });

  it('cannot match a tag', () => {
    const fullText = openFullText(database);
    const entry = { n: 3, text: 'plain', tags: [makeTag('p', 'p-secret')] };
    fullText.add(entry);
    expect(find(term(makeTag('p', 'p-secret')))).toEqual([3]);
    const asked = parseQuery(makeTag('p', 'p-secret')).words.map(({ text }) => term(text));
    expect(asked.flatMap((expression) => find(expression))).toEqual([]);
    fullText.remove([entry]);
  });
});

describe('a query in a script without spaces', () => {
  it('is found anywhere, also at the end, and beside words of other scripts', () => {
    const fullText = openFullText(database);
    const texts = ['データベース接続', '接続エラー', 'プール', '使用SQLite索引'];
    const entries = texts.map((text, n) => ({ n, text, tags: [] }));
    for (const entry of entries) fullText.add(entry);
    const asked = ['接続', '続', 'ベース接', '猫', '接エ', '索引'].map((word) => find(wordTerm(word)));
    expect(asked).toEqual([[0, 1], [0, 1], [0], [], [], [3]]);
    expect(find(term('sqlite'))).toEqual([3]);
    fullText.remove(entries);
  });
});

describe('stems in the index', () => {
  const text = fc.string({
    unit: fc.constantFrom(...'abes tion ing09 /_ é дб 接続 𝒳ﬁ'.split(''), '𝒳'),
    maxLength: 40,
  });

  function listAll(of: SqlDatabase): string[] {
    const rows = of.prepare('SELECT stem FROM stems ORDER BY stem').all();
    return rows.map((row) => String(Reflect.get(Object(row), 'stem')));
  }

  it('are the same whether added one by one or all at once, and removed with the last text', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), (texts) => {
        const entries = texts.map((each, n) => ({ n, text: each, tags: [] }));
        const one = openFullText(database);
        for (const entry of entries) one.add(entry);
        const grown = listAll(database);
        one.remove(entries.slice(1));
        one.remove(entries.slice(0, 1));
        expect(listAll(database)).toEqual([]);
        const filled = loadSqlDriver(undefined)?.open(':memory:');
        filled?.exec(CREATE_FULL_TEXT);
        if (filled === undefined) throw new Error('this test needs SQLite');
        fillFullText(filled, (fullText) => {
          for (const entry of entries) fullText.add(entry);
        });
        expect(listAll(filled)).toEqual(grown);
        filled.close();
      }),
      { numRuns: 60 },
    );
  });
});

describe('tags in the index', () => {
  it('are distinct, and not stemmed', () => {
    const fullText = openFullText(database);
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 12 }), { maxLength: 12 }), (values) => {
        const entries = values.map((value, n) => ({ n, text: '', tags: [makeTag('p', value)] }));
        for (const entry of entries) fullText.add(entry);
        const found = values.map((value) => find(term(makeTag('p', value))));
        fullText.remove(entries);
        expect(found).toEqual(values.map((_, n) => [n]));
      }),
    );
  });
});
