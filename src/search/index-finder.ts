import { MARKS, type Mark, type Marks } from '../handover/marks.ts';
import {
  checkCacheSeal,
  numberIn,
  type OpenCache,
  openCache,
  RowDamage,
  textIn,
} from '../platform/cache-database.ts';
import type { SqlDatabase, SqlDriver } from '../platform/sqlite.ts';
import type { ProjectMatch } from '../store/catalog.ts';
import {
  type Candidates,
  type FactFilter,
  type Finder,
  type FoundFact,
  isOfHandovers,
  passes,
  passesFact,
  type SearchContext,
  type SearchDocument,
  tagOfAgent,
  tagOfFileName,
  tagOfKind,
  tagOfProject,
} from './finder.ts';
import {
  allOf,
  anyOf,
  EVERYWHERE,
  type Expression,
  findNumbers,
  nameTerm,
  type Reach,
  term,
} from './full-text.ts';
import type { ParsedQuery, SearchQuery } from './query.ts';
import { type Extent, lookUpTerms, retrieveNumbers } from './retrieve.ts';
import {
  FIRST_OF_NOTES,
  HANDOVER_COLUMNS,
  type HandoverRow,
  isBehind,
  lastNumberSince,
  numberOfFact,
  readHandoverRow,
  readTextRow,
  SEARCH_INDEX,
  TEXT_COLUMNS,
  type TextRow,
  tagOfNotes,
} from './search-index.ts';

/** What was said of the facts of a project, without what holds them. */
export function readMarkRows(database: SqlDatabase, project: string): Marks {
  const marks = new Map<string, Mark>();
  const rows = database.prepare('SELECT fact, mark, at, because FROM marks WHERE project = ?').all(project);
  for (const row of rows) {
    const mark = MARKS.find((known) => known === textIn(row, 'mark'));
    const because = textIn(row, 'because');
    if (mark !== undefined)
      marks.set(textIn(row, 'fact'), {
        mark,
        at: textIn(row, 'at'),
        because: because === '' ? null : because,
        held: null,
      });
  }
  return marks;
}

/** Answers from the search index, after bringing it in line with the files. */
export async function openIndexFinder(desk: SearchContext, driver: SqlDriver): Promise<Finder> {
  const { store, progress } = desk;
  const notes = desk.notes ?? null;
  const cache: OpenCache = await openCache(store, driver, {
    cache: SEARCH_INDEX,
    update: async (database) => {
      if (checkCacheSeal(store, SEARCH_INDEX) === 'broken')
        (await import('../platform/cache-writer.ts')).assertSealed(store, SEARCH_INDEX);
      if (isBehind(store, database, notes))
        (await import('./update-index.ts')).updateSearchIndex(store, database, { notes, progress });
    },
    rebuild: async () =>
      (await import('./update-index.ts')).rebuildSearchIndex(store, driver, { notes, progress }),
  });
  return {
    by: 'index',
    indexFailure: null,
    gather: (query, parsed) => cache.ask((database) => gather(database, { desk, query, parsed })),
    facts: (filter) => readFacts(cache, filter),
    countHolders: (found) => cache.ask((database) => countHolders(database, found)),
    marks: (project) => cache.ask((database) => readMarkRows(database, project)),
    projectOf: (roots) => cache.ask((database) => findProject(database, roots)),
    close: cache.close,
  };
}

interface Asked {
  desk: SearchContext;
  query: SearchQuery;
  parsed: ParsedQuery;
}

function gather(database: SqlDatabase, { desk, query, parsed }: Asked): Candidates {
  const extent = measureExtent(database);
  const known = lookUpTerms(database, parsed, extent);
  const limits = describeLimits(database, query);
  const texts: SearchDocument[] = [];
  if (limits !== null) {
    const to = query.sinceMs === undefined ? FIRST_OF_NOTES - 1 : lastNumberSince(query.sinceMs);
    const numbers = retrieveNumbers(
      database,
      { parsed, known, extent, limits, limit: query.limit },
      { from: EVERYWHERE.from, to },
    );
    texts.push(...readTexts(database, numbers));
  }
  const notes = desk.notes ?? null;
  if (notes !== null && !isOfHandovers(query) && query.project === undefined) {
    const scope = { from: FIRST_OF_NOTES, to: Number.MAX_SAFE_INTEGER };
    const limits = [term(tagOfNotes(notes.folder)), ...limitToFile(query)];
    const numbers = retrieveNumbers(database, { parsed, known, extent, limits, limit: query.limit }, scope);
    texts.push(...readNotes(database, numbers));
  }
  return { texts: texts.filter((searched) => passes(query, searched)), known };
}

const COUNTED_HANDOVERS = 200;

/** Of the texts of handovers: about as many as the newest have on average. */
function measureExtent(database: SqlDatabase): Extent {
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

/** What every text must have besides; null when nothing can have it. */
function describeLimits(
  database: SqlDatabase,
  { kinds, agent, project, ...rest }: Pick<SearchQuery, 'kinds' | 'agent' | 'project' | 'file'>,
): Expression[] | null {
  const limits = limitToFile(rest);
  if (kinds !== undefined) {
    if (kinds.length === 0) return null;
    limits.push(anyOf(kinds.map((kind) => term(tagOfKind(kind)))));
  }
  if (agent !== undefined) limits.push(term(tagOfAgent(agent)));
  if (project !== undefined) {
    const ids = findProjects(database, project);
    if (ids.length === 0) return null;
    limits.push(anyOf(ids.map((id) => term(tagOfProject(id)))));
  }
  return limits;
}

function limitToFile({ file }: Pick<SearchQuery, 'file'>): Expression[] {
  const name = file === undefined ? null : nameTerm(file);
  return name === null ? [] : [name];
}

/** Each project, by a jump over its handovers. */
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
  if (root !== undefined) {
    const project = findProject(database, [root]);
    if (project !== null) ids.add(project);
  }
  return [...ids];
}

/** The project of the newest handover of the first of these folders that has any. */
function findProject(database: SqlDatabase, roots: readonly string[]): string | null {
  const find = database.prepare('SELECT project_id FROM handovers WHERE root = ? ORDER BY first LIMIT 1');
  for (const root of roots) {
    const id = textIn(find.get(root), 'project_id');
    if (id !== '') return id;
  }
  return null;
}

function readTexts(database: SqlDatabase, numbers: readonly number[]): SearchDocument[] {
  const rows = readRows(database, numbers);
  const places = database
    .prepare(
      `SELECT ${HANDOVER_COLUMNS} FROM handovers WHERE first IN (
         SELECT (SELECT max(first) FROM handovers WHERE first <= value) FROM json_each(?)) ORDER BY first`,
    )
    .all(JSON.stringify(numbers))
    .map(readHandoverRow);
  let at = 0;
  return rows.map((row) => {
    while (row.n >= endOf(places[at])) at++;
    const place = places[at];
    if (place === undefined || row.n < place.first) throw new RowDamage();
    const { handover } = place;
    if (row.fact === null) return { what: 'handover', text: row.text, handover };
    return { what: 'fact', text: row.text, handover, fact: row.fact };
  });
}

function endOf(place: HandoverRow | undefined): number {
  return place === undefined ? Number.POSITIVE_INFINITY : place.first + place.texts;
}

function readNotes(database: SqlDatabase, numbers: readonly number[]): SearchDocument[] {
  const find = database.prepare('SELECT path, at FROM notes WHERE first <= ? ORDER BY first DESC LIMIT 1');
  return readRows(database, numbers).map((row) => {
    const file = find.get(row.n);
    return {
      what: 'note',
      text: row.text,
      path: textIn(file, 'path'),
      line: row.line ?? 1,
      at: textIn(file, 'at'),
    };
  });
}

/** In the order of their numbers. What the full text knows and the rows do not is damage. */
function readRows(database: SqlDatabase, numbers: readonly number[]): TextRow[] {
  const rows = database
    .prepare(`SELECT ${TEXT_COLUMNS} FROM texts WHERE n IN (SELECT value FROM json_each(?)) ORDER BY n`)
    .all(JSON.stringify(numbers));
  if (rows.length !== numbers.length) throw new RowDamage();
  return rows.map(readTextRow);
}

function countHolders(database: SqlDatabase, { fact, handover }: FoundFact): number {
  const row = database
    .prepare(
      `SELECT count(*) AS count FROM texts t WHERE t.fact = ? AND ? =
         (SELECT project_id FROM handovers WHERE first <= t.n ORDER BY first DESC LIMIT 1)`,
    )
    .get(numberOfFact(fact.id), handover.project.id);
  return numberIn(row, 'count');
}

const ROWS_AT_ONCE = 500;
const MOST_NUMBERS = 50_000;

/** Whoever needs few gets them soon; whoever needs all is spared that each look-up begins at the newest. */
async function* readFacts(cache: OpenCache, filter: FactFilter): AsyncIterable<FoundFact> {
  const to = filter.sinceMs === undefined ? FIRST_OF_NOTES - 1 : lastNumberSince(filter.sinceMs);
  let from = EVERYWHERE.from;
  for (let limit = ROWS_AT_ONCE; ; limit = Math.min(4 * limit, MOST_NUMBERS)) {
    const reach = { from, to, limit };
    const numbers = await cache.ask((database) => listFactNumbers(database, filter, reach));
    for (let at = 0; at < numbers.length; at += ROWS_AT_ONCE) {
      const some = numbers.slice(at, at + ROWS_AT_ONCE);
      for (const searched of await cache.ask((database) => readTexts(database, some)))
        if (searched.what === 'fact' && passesFact(filter, searched.fact, searched.handover)) yield searched;
    }
    if (numbers.length < limit) return;
    from = (numbers.at(-1) ?? 0) + 1;
  }
}

type Page = Reach & { limit: number };

function listFactNumbers(database: SqlDatabase, filter: FactFilter, page: Page): number[] {
  const limits = describeLimits(database, filter);
  if (limits === null) return [];
  if (filter.fileName !== undefined) limits.push(term(tagOfFileName(filter.fileName)));
  if (filter.ids !== undefined || limits.length === 0) return listNumbers(database, page, filter.ids);
  return findNumbers(database, allOf(limits), page);
}

function listNumbers(database: SqlDatabase, { from, to, limit }: Page, ids?: readonly string[]): number[] {
  const facts = (ids ?? []).map(numberOfFact);
  const among = ids === undefined ? '' : `fact IN (${facts.map(() => '?').join(', ')}) AND`;
  return database
    .prepare(`SELECT n FROM texts WHERE ${among} n BETWEEN ? AND ? ORDER BY n LIMIT ?`)
    .all(...facts, from, to, limit)
    .map((row) => numberIn(row, 'n'));
}
