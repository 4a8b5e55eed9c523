import { HandoverError, isErrno } from '../errors.ts';
import { isCacheTrouble, openCache, RowDamage, textIn } from '../platform/cache-database.ts';
import { measureRegularFile } from '../platform/durable-file.ts';
import { pathExists } from '../platform/folders.ts';
import { loadSqlDriver, type SqlDatabase, type SqlDriver, type SqlValue } from '../platform/sqlite.ts';
import {
  type Catalog,
  type CatalogRow,
  type DamagedFile,
  endOfPrefix,
  type Filter,
  isCatalogRow,
  type ProjectMatch,
} from './catalog.ts';
import {
  COLUMNS,
  findChangedMonths,
  INDEX,
  type IndexRow,
  isComplete,
  isIndexRow,
  pathOfIndex,
} from './index-schema.ts';
import type { Progress } from './index-writer.ts';
import { hasPendingImports, pathOfHandover, type Store } from './store.ts';

/** Called only when something cannot be found by the files alone. */
export type CatalogOpener = () => Promise<Catalog>;

/** For work that may need the catalog: it is opened when it is asked for, and closed after use. */
export async function withCatalogOpener<T>(
  store: Store,
  work: (open: CatalogOpener) => Promise<T>,
): Promise<T> {
  const opened: Catalog[] = [];
  try {
    return await work(async () => {
      const { openCatalog } = await import('./open-catalog.ts');
      const { catalog } = await openCatalog(store);
      opened.push(catalog);
      return catalog;
    });
  } finally {
    for (const catalog of opened) catalog.close();
  }
}

/** What a person is shown, and one to see whether there are more: rows that nobody looks at cost time too. */
const FIRST_PAGE_ROWS = 21;
const PAGE_ROWS = 500;

const MAX_COUNTED_BYTES = 8 * 1024 * 1024;

/**
 * Answers from the index, after bringing it in line with the files. An index that is missing, old or damaged is built
 * anew, also when the damage shows only in the middle of a list. What writes the index is loaded only when it is needed.
 */
export async function openIndexCatalog(
  store: Store,
  driver: SqlDriver,
  progress?: Progress,
): Promise<Catalog> {
  const { ask, close } = await openCache(store, driver, {
    cache: INDEX,
    update: (database) => update(store, database),
    rebuild: async () => (await import('./index-writer.ts')).rebuildIndex(store, driver, progress),
  });
  return {
    driver: 'index',
    rows: (filter) => readRows((page) => ask((database) => readPage(database, filter, page))),
    damaged: () => ask((database) => readDamaged(store, database)),
    close,
  };
}

async function update(store: Store, database: SqlDatabase): Promise<void> {
  if (findChangedMonths(store, database).length > 0)
    (await import('./index-writer.ts')).updateIndex(store, database);
  if ((measureRegularFile(pathOfIndex(store)) ?? 0) <= MAX_COUNTED_BYTES && !isComplete(database))
    throw new RowDamage();
}

/** The rows that follow the row `after`, or the first ones, and how many of them at most. */
interface Page {
  after: IndexRow | null;
  size: number;
}

/** A row of the index and what is shown of it. */
interface Read {
  row: IndexRow;
  shown: CatalogRow;
}

async function* readRows(read: (page: Page) => Promise<Read[]>): AsyncIterable<CatalogRow> {
  let page: Page = { after: null, size: FIRST_PAGE_ROWS };
  for (;;) {
    const rows = await read(page);
    for (const { shown } of rows) yield shown;
    if (rows.length < page.size) return;
    page = { after: rows.at(-1)?.row ?? null, size: PAGE_ROWS };
  }
}

function readPage(database: SqlDatabase, filter: Filter, page: Page): Read[] {
  const { where, values } = translate(filter, page.after);
  const columns = COLUMNS.map((column) => `h.${column}`).join(', ');
  const texts = filter.query === undefined ? '' : 'JOIN texts t ON t.id = h.id';
  return database
    .prepare(
      `SELECT ${columns} FROM handovers h ${texts} ${where} ORDER BY h.created_ms DESC, h.id DESC LIMIT ${page.size}`,
    )
    .all(...values)
    .map((row) => {
      if (!isIndexRow(row)) throw new RowDamage();
      return { row, shown: parseShown(row) };
    });
}

function translate(filter: Filter, after: IndexRow | null): { where: string; values: SqlValue[] } {
  const terms: string[] = [];
  const values: SqlValue[] = [];
  const add = (term: string, ...given: SqlValue[]): void => {
    terms.push(term);
    values.push(...given);
  };
  if (after !== null) add('(h.created_ms, h.id) < (?, ?)', after.created_ms, after.id);
  if (filter.idPrefix !== undefined)
    add('h.id >= ? AND h.id < ?', filter.idPrefix, endOfPrefix(filter.idPrefix));
  if (filter.sinceMs !== undefined) add('h.created_ms >= ?', filter.sinceMs);
  if (filter.untilMs !== undefined) add('h.created_ms <= ?', filter.untilMs);
  if (filter.agent !== undefined) add('h.agent = ?', filter.agent.toLowerCase());
  if (filter.project !== undefined) {
    const marks = markColumns(filter.project);
    const any = marks.map(([column]) => `h.${column} = ?`).join(' OR ');
    add(any === '' ? '0' : `(${any})`, ...marks.map(([, value]) => value));
  }
  if (filter.query !== undefined) add('instr(t.body, ?) > 0', filter.query.toLowerCase());
  return { where: terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`, values };
}

/** Only the marks that are given: a project's id alone is looked up, anything else is searched for. */
function markColumns({ id, name, root }: ProjectMatch): [column: string, value: string][] {
  const marks: [string, string | undefined][] = [
    ['project_id', id],
    ['project_name', name?.toLowerCase()],
    ['root', root],
  ];
  return marks.flatMap(([column, value]) => (value === undefined ? [] : [[column, value]]));
}

function parseShown(row: IndexRow): CatalogRow {
  const shown: unknown = JSON.parse(row.shown);
  if (!isCatalogRow(shown)) throw new RowDamage();
  return shown;
}

function readDamaged(store: Store, database: SqlDatabase): DamagedFile[] {
  return database
    .prepare('SELECT id, reason FROM damaged ORDER BY id')
    .all()
    .map((row) => ({ path: pathOfHandover(store, textIn(row, 'id')), reason: textIn(row, 'reason') }));
}

export interface CatalogResult {
  catalog: Catalog;
  /** Why the index is not used although there could be one; null when all is well. */
  indexFailure: Error | null;
}

/** The index where there is one to be had, else the files themselves: a cache that fails must not keep anyone from them. */
export async function openCatalog(store: Store, progress?: Progress): Promise<CatalogResult> {
  if (!pathExists(store.root)) return { catalog: await openScan(store), indexFailure: null };
  await finishPendingImports(store);
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  if (driver === null) return { catalog: await openScan(store), indexFailure: null };
  try {
    return { catalog: await openIndexCatalog(store, driver, progress), indexFailure: null };
  } catch (error) {
    if (!isSurvivable(error)) throw error;
    return { catalog: await openScan(store), indexFailure: error };
  }
}

/** What came in belongs to the list. Where that cannot be finished now, the rest is listed all the same. */
export async function finishPendingImports(store: Store): Promise<void> {
  if (!hasPendingImports(store)) return;
  try {
    (await import('./pending-imports.ts')).finishImports(store);
  } catch (error) {
    if (!isSurvivable(error)) throw error;
  }
}

async function openScan(store: Store): Promise<Catalog> {
  return (await import('./scan-catalog.ts')).openScanCatalog(store);
}

function isSurvivable(error: unknown): error is Error {
  return error instanceof HandoverError || isErrno(error) || isCacheTrouble(error);
}
