import { MARKS, type Mark, type Marks } from '../handover/marks.ts';
import { checkCacheSeal, numberIn, type OpenCache, openCache, RowDamage, textIn } from '../platform/cache-database.ts';
import type { SqlDatabase, SqlDriver } from '../platform/sqlite.ts';
import type { ProjectMatch } from '../store/catalog.ts';
import {
  type Candidates,
  type FactDocument,
  type FactFilter,
  type Finder,
  type HandoverDocument,
  mayBeNote,
  passes,
  type SearchContext,
  type SearchDocument,
  tagOfFileName,
} from './finder.ts';
import { tagOfNotes } from './notes.ts';
import type { ParsedQuery, SearchQuery } from './query.ts';
import {
  allOf,
  type Expression,
  FULL_RANGE,
  findNumbers,
  type IndexExtent,
  type LimitedRange,
  limitTerms,
  lookUpTerms,
  type NumberRange,
  retrieveNumbers,
  term,
} from './retrieve.ts';
import {
  FIRST_OF_NOTES,
  HANDOVERS,
  isBehind,
  lastNumberSince,
  numberOfFact,
  readHandoverRow,
  readTextRow,
  SEARCH_INDEX,
  TEXTS,
  type TextRow,
} from './search-index.ts';

/** Searches the index, after bringing it up to date. What writes to it is loaded only when something has changed. */
export async function openIndexFinder(context: SearchContext, driver: SqlDriver): Promise<Finder> {
  const { store, progress, notes = null } = context;
  const cache: OpenCache = await openCache(store, driver, {
    cache: SEARCH_INDEX,
    update: async (database) => {
      if (checkCacheSeal(store, SEARCH_INDEX) === 'broken')
        (await import('../platform/cache-writer.ts')).assertSealed(store, SEARCH_INDEX);
      if (isBehind(store, database, notes))
        (await import('./update-index.ts')).updateSearchIndex(store, database, { notes, progress });
    },
    rebuild: async () => (await import('./update-index.ts')).rebuildSearchIndex(store, driver, { notes, progress }),
  });
  return {
    by: 'index',
    indexFailure: null,
    gather: (query, parsed) => cache.ask((database) => gather(database, context, query, parsed)),
    facts: (filter) => readFacts(cache, filter),
    countHolders: (found) => cache.ask((database) => countHolders(database, found)),
    marks: (project) => cache.ask((database) => readMarkRows(database, project)),
    projectOf: (roots) => cache.ask((database) => findProject(database, roots)),
    close: cache.close,
  };
}

function gather(database: SqlDatabase, context: SearchContext, query: SearchQuery, parsed: ParsedQuery): Candidates {
  const { notes = null } = context;
  const extent = measureExtent(database);
  const known = lookUpTerms(database, parsed, extent);
  const retrieve = (limits: readonly Expression[], range: NumberRange): number[] =>
    retrieveNumbers(database, { parsed, known, total: extent.total, limits, range, limit: query.limit });
  const texts: SearchDocument[] = [];
  const limits = limitDocuments(database, query);
  if (limits !== null) texts.push(...readTexts(database, retrieve(limits, rangeOfHandovers(query))));
  if (notes !== null && mayBeNote(query) && query.project === undefined) {
    const limits = [term(tagOfNotes(notes.folder)), ...limitTerms({ file: query.file })];
    texts.push(...readNotes(database, retrieve(limits, { ...FULL_RANGE, from: FIRST_OF_NOTES })));
  }
  return { texts: texts.filter((document) => passes(query, document)), known };
}

function rangeOfHandovers({ sinceMs }: FactFilter): NumberRange {
  return { ...FULL_RANGE, to: sinceMs === undefined ? FIRST_OF_NOTES - 1 : lastNumberSince(sinceMs) };
}

const COUNTED_HANDOVERS = 200;

/** The total is estimated from the newest handovers. */
function measureExtent(database: SqlDatabase): IndexExtent {
  const counted = database
    .prepare(
      `SELECT count(*) AS handovers, coalesce(sum(texts), 0) AS texts,
         (SELECT coalesce(sum(files), 0) FROM months) AS files
       FROM (SELECT texts FROM handovers ORDER BY first LIMIT ${COUNTED_HANDOVERS})`,
    )
    .get();
  const [handovers, texts] = [numberIn(counted, 'handovers'), numberIn(counted, 'texts')];
  const all = handovers < COUNTED_HANDOVERS ? texts : (texts / handovers) * numberIn(counted, 'files');
  const ends = database
    .prepare('SELECT min(first) AS low, (SELECT max(first) FROM handovers) AS high FROM handovers')
    .get();
  return { total: Math.max(1, all), from: numberIn(ends, 'low') || 0, to: numberIn(ends, 'high') || 0 };
}

/** What the documents of handovers must contain; null when none can. */
function limitDocuments(database: SqlDatabase, filter: FactFilter): Expression[] | null {
  const { kinds, agent, file, project } = filter;
  const projects = project === undefined ? undefined : findProjects(database, project);
  if (kinds?.length === 0 || projects?.length === 0) return null;
  return limitTerms({ kinds, agent, file, projects });
}

/** The distinct projects, by a loose index scan. */
const PROJECTS = `
  WITH RECURSIVE known(id, name) AS (
    SELECT * FROM (SELECT project_id, project_name FROM handovers ORDER BY project_id, project_name LIMIT 1)
    UNION ALL
    SELECT p.project_id, p.project_name FROM known, handovers p
    WHERE p.rowid = (
      SELECT rowid FROM handovers
      WHERE (project_id, project_name) > (known.id, known.name)
      ORDER BY project_id, project_name LIMIT 1
    )
  )
  SELECT id, name FROM known`;

function findProjects(database: SqlDatabase, { id, name, root }: ProjectMatch): string[] {
  const ids = new Set(id === undefined ? [] : [id]);
  if (name !== undefined)
    for (const row of database.prepare(PROJECTS).all())
      if (textIn(row, 'name').toLowerCase() === name.toLowerCase()) ids.add(textIn(row, 'id'));
  const project = root === undefined ? null : findProject(database, [root]);
  if (project !== null) ids.add(project);
  return [...ids];
}

function findProject(database: SqlDatabase, roots: readonly string[]): string | null {
  const find = database.prepare('SELECT project_id FROM handovers WHERE root = ? ORDER BY first LIMIT 1');
  for (const root of roots) {
    const id = textIn(find.get(root), 'project_id');
    if (id !== '') return id;
  }
  return null;
}

/** The documents of handovers with these numbers, in order. */
function readTexts(database: SqlDatabase, numbers: readonly number[]): HandoverDocument[] {
  const rows = readRows(database, numbers);
  const places = database
    .prepare(
      `SELECT ${HANDOVERS.columns} FROM handovers WHERE first IN (
         SELECT (SELECT max(first) FROM handovers WHERE first <= value) FROM json_each(?)) ORDER BY first`,
    )
    .all(JSON.stringify(numbers))
    .map(readHandoverRow);
  let at = 0;
  return rows.map(({ n, text, fact }) => {
    for (let place = places[at]; place !== undefined && n >= place.first + place.texts; place = places[at]) at++;
    const place = places[at];
    if (place === undefined || n < place.first) throw new RowDamage();
    const { handover } = place;
    return fact === null ? { what: 'handover', text, handover } : { what: 'fact', text, fact, handover };
  });
}

function readNotes(database: SqlDatabase, numbers: readonly number[]): SearchDocument[] {
  const find = database.prepare('SELECT path, at FROM notes WHERE first <= ? ORDER BY first DESC LIMIT 1');
  return readRows(database, numbers).map(({ n, text, line }) => {
    const file = find.get(n);
    return { what: 'note', text, path: textIn(file, 'path'), line: line ?? 1, at: textIn(file, 'at') };
  });
}

/** In the order of their numbers. A text that only the full-text tables know is damage. */
function readRows(database: SqlDatabase, numbers: readonly number[]): TextRow[] {
  const rows = database
    .prepare(`SELECT ${TEXTS.columns} FROM texts WHERE n IN (SELECT value FROM json_each(?)) ORDER BY n`)
    .all(JSON.stringify(numbers));
  if (rows.length !== numbers.length) throw new RowDamage();
  return rows.map(readTextRow);
}

function countHolders(database: SqlDatabase, { fact, handover }: FactDocument): number {
  const row = database
    .prepare(
      `SELECT count(*) AS count FROM texts t WHERE t.fact = ? AND ? =
         (SELECT project_id FROM handovers WHERE first <= t.n ORDER BY first DESC LIMIT 1)`,
    )
    .get(numberOfFact(fact.id), handover.project.id);
  return numberIn(row, 'count');
}

/** The marks of a project, without the facts and handovers that they pin. */
function readMarkRows(database: SqlDatabase, project: string): Marks {
  const marks = new Map<string, Mark>();
  for (const row of database.prepare('SELECT fact, mark, at, because FROM marks WHERE project = ?').all(project)) {
    const mark = MARKS.find((known) => known === textIn(row, 'mark'));
    const because = textIn(row, 'because') || null;
    if (mark !== undefined) marks.set(textIn(row, 'fact'), { mark, at: textIn(row, 'at'), because, pinnedFact: null });
  }
  return marks;
}

const ROWS_AT_ONCE = 500;
const MAX_NUMBERS = 50_000;

/** Pages grow: whoever needs few facts gets them soon, and whoever needs all does not begin at the newest each time. */
async function* readFacts(cache: OpenCache, filter: FactFilter): AsyncIterable<FactDocument> {
  const reach = rangeOfHandovers(filter);
  for (let limit = ROWS_AT_ONCE; ; limit = Math.min(4 * limit, MAX_NUMBERS)) {
    const numbers = await cache.ask((database) => listFactNumbers(database, filter, { ...reach, limit }));
    for (let at = 0; at < numbers.length; at += ROWS_AT_ONCE) {
      const some = numbers.slice(at, at + ROWS_AT_ONCE);
      for (const document of await cache.ask((database) => readTexts(database, some)))
        if (document.what === 'fact' && passes(filter, document)) yield document;
    }
    if (numbers.length < limit) return;
    reach.from = (numbers.at(-1) ?? 0) + 1;
  }
}

function listFactNumbers(database: SqlDatabase, filter: FactFilter, page: LimitedRange): number[] {
  const { ids, fileName } = filter;
  const limits = limitDocuments(database, filter);
  if (limits === null) return [];
  if (fileName !== undefined) limits.push(term(tagOfFileName(fileName)));
  if (ids === undefined && limits.length > 0) return findNumbers(database, allOf(limits), page);
  const facts = (ids ?? []).map(numberOfFact);
  const among = ids === undefined ? '' : `fact IN (${facts.map(() => '?').join(', ')}) AND`;
  return database
    .prepare(`SELECT n FROM texts WHERE ${among} n BETWEEN ? AND ? ORDER BY n LIMIT ?`)
    .all(...facts, page.from, page.to, page.limit)
    .map((row) => numberIn(row, 'n'));
}
