import { followMark, MARKS, type Mark, type Marks } from '../handover/marks.ts';
import { checkCacheSeal, numberIn, type OpenCache, openCache, RowDamage, textIn } from '../platform/cache-database.ts';
import { makeProjectNames } from '../platform/known-projects.ts';
import type { SqlDatabase, SqlDriver } from '../platform/sqlite.ts';
import { listProjectIds, type ProjectMatch } from '../store/catalog.ts';
import type { Store } from '../store/store.ts';
import * as finder from './finder.ts';
import { tagOfNotes } from './notes.ts';
import type { ParsedQuery, SearchQuery } from './query.ts';
import * as retrieval from './retrieve.ts';
import * as index from './search-index.ts';

/** Searches the index, after bringing it up to date. What writes to it is loaded only when something has changed. */
export async function openIndexFinder(context: finder.SearchContext, driver: SqlDriver): Promise<finder.Finder> {
  const { store, progress, notes = null } = context;
  const cache: OpenCache = await openCache(store, driver, {
    cache: index.SEARCH_INDEX,
    update: async (database) => {
      if (checkCacheSeal(store, index.SEARCH_INDEX) === 'broken')
        (await import('../platform/cache-writer.ts')).assertSealed(store, index.SEARCH_INDEX);
      if (index.isBehind(store, database, notes))
        (await import('./update-index.ts')).updateSearchIndex(store, database, { notes, progress });
    },
    rebuild: async () => (await import('./update-index.ts')).rebuildSearchIndex(store, driver, { notes, progress }),
  });
  return {
    by: 'index',
    indexFailure: null,
    gather: (query, parsed) => cache.ask((database) => gather(database, context, query, parsed)),
    facts: (filter) => readFacts(cache, filter),
    files: (filter) => listFiles(cache, store, filter),
    countHolders: (found) => cache.ask((database) => countHolders(database, found)),
    marks: (project) => cache.ask((database) => readMarkRows(database, project)),
    projectOf: (roots) => cache.ask((database) => findProject(database, roots)),
    close: cache.close,
  };
}

const MAX_RANKED = 300;

function gather(
  database: SqlDatabase,
  context: finder.SearchContext,
  query: SearchQuery,
  parsed: ParsedQuery,
): finder.Candidates {
  const { notes = null } = context;
  const { total, ...reach } = measureExtent(database);
  const count = (expression: retrieval.Expression): number => retrieval.estimateCount(database, expression, reach);
  const known = retrieval.lookUpTerms(database, parsed, { total, count });
  const retrieve = (limits: readonly retrieval.Expression[], range: retrieval.NumberRange): number[] =>
    retrieval.retrieveNumbers(database, {
      parsed,
      known,
      total,
      limits,
      find: (expression, limit) => retrieval.findNumbers(database, expression, { ...range, limit }),
      limit: query.limit,
      ranked: MAX_RANKED,
    });
  const texts: finder.SearchDocument[] = [];
  const limits = limitDocuments(database, query);
  if (limits !== null) texts.push(...readTexts(database, retrieve(limits, rangeOfHandovers(query))));
  if (notes !== null && finder.mayBeNote(query) && query.project === undefined) {
    const limits = [retrieval.term(tagOfNotes(notes.folder)), ...retrieval.limitTerms({ file: query.file })];
    texts.push(...readNotes(database, retrieve(limits, { ...retrieval.FULL_RANGE, from: index.FIRST_OF_NOTES })));
  }
  return { texts: texts.filter((document) => finder.passes(query, document)), known };
}

function rangeOfHandovers({ sinceMs }: finder.FactFilter): retrieval.NumberRange {
  return {
    ...retrieval.FULL_RANGE,
    to: sinceMs === undefined ? index.FIRST_OF_NOTES - 1 : index.lastNumberSince(sinceMs),
  };
}

const COUNTED_HANDOVERS = 200;

/** About how many texts there are, estimated from the newest handovers, and the range of their numbers. */
function measureExtent(database: SqlDatabase): retrieval.NumberRange & { total: number } {
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
function limitDocuments(database: SqlDatabase, filter: finder.FactFilter): retrieval.Expression[] | null {
  const { kinds, agent, file, project } = filter;
  const projects = project === undefined ? undefined : findProjects(database, project);
  if (kinds?.length === 0 || projects?.length === 0) return null;
  return retrieval.limitTerms({ kinds, agent, file, projects });
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

function listProjects(database: SqlDatabase): { id: string; name: string }[] {
  const rows = database.prepare(PROJECTS).all();
  return rows.map((row) => ({ id: textIn(row, 'id'), name: textIn(row, 'name') }));
}

function findProjects(database: SqlDatabase, match: ProjectMatch): string[] {
  const { name, root } = match;
  const ids = new Set(listProjectIds(match));
  if (name !== undefined)
    for (const known of listProjects(database)) if (known.name.toLowerCase() === name.toLowerCase()) ids.add(known.id);
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
function readTexts(database: SqlDatabase, numbers: readonly number[]): finder.HandoverDocument[] {
  const rows = readRows(database, numbers);
  const places = database
    .prepare(
      `SELECT ${index.HANDOVERS.columns} FROM handovers WHERE first IN (
         SELECT (SELECT max(first) FROM handovers WHERE first <= value) FROM json_each(?)) ORDER BY first`,
    )
    .all(JSON.stringify(numbers))
    .map(index.readHandoverRow);
  let at = 0;
  return rows.map(({ n, text, fact }) => {
    for (let place = places[at]; place !== undefined && n >= place.first + place.texts; place = places[at]) at++;
    const place = places[at];
    if (place === undefined || n < place.first) throw new RowDamage();
    const { handover } = place;
    return fact === null ? { what: 'handover', text, handover } : { what: 'fact', text, fact, handover };
  });
}

function readNotes(database: SqlDatabase, numbers: readonly number[]): finder.SearchDocument[] {
  const find = database.prepare('SELECT path, at FROM notes WHERE first <= ? ORDER BY first DESC LIMIT 1');
  return readRows(database, numbers).map(({ n, text, line }) => {
    const file = find.get(n);
    return { what: 'note', text, path: textIn(file, 'path'), line: line ?? 1, at: textIn(file, 'at') };
  });
}

/** In the order of their numbers. A text that only the full-text tables know is damage. */
function readRows(database: SqlDatabase, numbers: readonly number[]): index.TextRow[] {
  const rows = database
    .prepare(`SELECT ${index.TEXTS.columns} FROM texts WHERE n IN (SELECT value FROM json_each(?)) ORDER BY n`)
    .all(JSON.stringify(numbers));
  if (rows.length !== numbers.length) throw new RowDamage();
  return rows.map(index.readTextRow);
}

function countHolders(database: SqlDatabase, { fact, handover }: finder.FactDocument): number {
  const row = database
    .prepare(
      `SELECT count(*) AS count FROM texts t WHERE t.fact = ? AND ? =
         (SELECT project_id FROM handovers WHERE first <= t.n ORDER BY first DESC LIMIT 1)`,
    )
    .get(index.numberOfFact(fact.id), handover.project.id);
  return numberIn(row, 'count');
}

/** The marks of a project, without the facts and handovers that they pin. */
function readMarkRows(database: SqlDatabase, project: string): Marks {
  const marks = new Map<string, Mark>();
  const query = 'SELECT fact, mark, at, because FROM marks WHERE project = ? ORDER BY at, identity';
  for (const row of database.prepare(query).all(project)) {
    const mark = MARKS.find((known) => known === textIn(row, 'mark'));
    const [fact, because] = [textIn(row, 'fact'), textIn(row, 'because') || null];
    if (mark === undefined) continue;
    marks.set(fact, followMark(marks.get(fact), { mark, at: textIn(row, 'at'), because, pinnedFact: null }));
  }
  return marks;
}

const ROWS_AT_ONCE = 500;
const MAX_NUMBERS = 50_000;

/** Pages grow: whoever needs few facts gets them soon, and whoever needs all does not begin at the newest each time. */
async function* readFacts(cache: OpenCache, filter: finder.FactFilter): AsyncIterable<finder.FactDocument> {
  const reach = rangeOfHandovers(filter);
  for (let limit = ROWS_AT_ONCE; ; limit = Math.min(4 * limit, MAX_NUMBERS)) {
    const numbers = await cache.ask((database) => listFactNumbers(database, filter, { ...reach, limit }));
    for (let at = 0; at < numbers.length; at += ROWS_AT_ONCE) {
      const some = numbers.slice(at, at + ROWS_AT_ONCE);
      for (const document of await cache.ask((database) => readTexts(database, some)))
        if (document.what === 'fact' && finder.passes(filter, document)) yield document;
    }
    if (numbers.length < limit) return;
    reach.from = (numbers.at(-1) ?? 0) + 1;
  }
}

const FILES_AT_ONCE = 40;

/** Counted by project and path alone: null where more is asked for, or several ids are one project. */
async function listFiles(cache: OpenCache, { machine }: Store, { project, agent, sinceMs }: finder.FactFilter) {
  if (agent !== undefined || sinceMs !== undefined) return null;
  const projects = await cache.ask((database) =>
    project === undefined ? listProjects(database).map(({ id }) => id) : findProjects(database, project),
  );
  const ids = [...new Set(projects)];
  return new Set(ids.map(makeProjectNames(machine))).size < ids.length ? null : readFiles(cache, ids);
}

async function* readFiles(cache: OpenCache, projects: readonly string[]): AsyncIterable<finder.FilePage> {
  for (let [from, size] = [0, FILES_AT_ONCE]; ; [from, size] = [from + size, size * 8]) {
    const page = await cache.ask((database) => readFilePage(database, { projects, from, size }));
    yield page;
    if (page.rest === null) return;
  }
}

/** Which files come first is found without reading facts. */
function readFilePage(
  database: SqlDatabase,
  { projects, from, size }: { projects: readonly string[]; from: number; size: number },
): finder.FilePage {
  const rows = database
    .prepare(
      `SELECT project, path, count(DISTINCT session) AS sessions, max(at) AS last,
         count(DISTINCT CASE WHEN changed THEN session END) AS changes
       FROM files WHERE project IN (SELECT value FROM json_each(?)) GROUP BY project, path
       ORDER BY changes DESC, sessions DESC, last DESC, path LIMIT ${size + 1} OFFSET ${from}`,
    )
    .all(JSON.stringify(projects));
  const find = database.prepare('SELECT n FROM files WHERE project = ? AND path = ? ORDER BY n');
  const facts = rows.slice(0, size).flatMap((row) => {
    const numbers = find.all(textIn(row, 'project'), textIn(row, 'path')).map((each) => numberIn(each, 'n'));
    return readTexts(database, numbers).flatMap((each) => (each.what === 'fact' ? [each] : []));
  });
  return { facts, rest: rows.length > size ? readWorth(rows.at(-1)) : null };
}

function readWorth(row: unknown): finder.FileWorth {
  const [changes, sessions, lastMs] = [numberIn(row, 'changes'), numberIn(row, 'sessions'), numberIn(row, 'last')];
  return { changes, sessions, lastMs, path: textIn(row, 'path') };
}

function listFactNumbers(database: SqlDatabase, filter: finder.FactFilter, page: retrieval.LimitedRange): number[] {
  const { ids, fileName } = filter;
  const limits = limitDocuments(database, filter);
  if (limits === null) return [];
  if (fileName !== undefined) limits.push(retrieval.term(finder.tagOfFileName(fileName)));
  if (ids === undefined && limits.length > 0) return retrieval.findNumbers(database, retrieval.allOf(limits), page);
  const facts = (ids ?? []).map(index.numberOfFact);
  const among = ids === undefined ? '' : `fact IN (${facts.map(() => '?').join(', ')}) AND`;
  return database
    .prepare(`SELECT n FROM texts WHERE ${among} n BETWEEN ? AND ? ORDER BY n LIMIT ?`)
    .all(...facts, page.from, page.to, page.limit)
    .map((row) => numberIn(row, 'n'));
}
