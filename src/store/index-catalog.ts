import { openCache, RowDamage, textIn } from '../platform/cache-database.ts';
import { measureRegularFile } from '../platform/durable-file.ts';
import type { SqlDatabase, SqlDriver, SqlValue } from '../platform/sqlite.ts';
import {
  type Catalog,
  type CatalogRow,
  type DamagedFile,
  endOfPrefix,
  type Filter,
  isCatalogRow,
  type ProjectMatch,
} from './catalog.ts';
import { findChangedMonths, isComplete } from './index-freshness.ts';
import { COLUMNS, INDEX, type IndexRow, isIndexRow, pathOfIndex } from './index-schema.ts';
import type { Progress } from './index-sync.ts';
import { pathOfHandover, type Store } from './store.ts';

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
