import { HandoverError } from '../errors.ts';
import type { SqlDatabase, SqlDriver, SqlValue } from '../platform/sql.ts';
import {
  type Catalog,
  type CatalogRow,
  type DamagedFile,
  endOfPrefix,
  type Filter,
  isCatalogRow,
} from './catalog.ts';
import { isIndexDamage, openIndexFile } from './index-file.ts';
import { findChangedMonths } from './index-freshness.ts';
import { COLUMNS, type IndexRow, parseIndexRow, pathOfIndex, textIn } from './index-schema.ts';
import type { Progress } from './index-sync.ts';
import { pathOfHandover, type Store } from './store.ts';

const PAGE_ROWS = 500;

/** Raised inside when a row is not what was put in. */
class RowDamage extends Error {}

/**
 * Answers from the index, after bringing it in line with the files. An index that is missing, old or damaged is built
 * anew, also when the damage shows only in the middle of a list. What writes the index is loaded only when it is needed.
 */
export async function openIndexCatalog(
  store: Store,
  driver: SqlDriver,
  progress?: Progress,
): Promise<Catalog> {
  let database = await openOrRebuild(store, driver, progress);
  const ask = async <T>(question: (database: SqlDatabase) => T): Promise<T> => {
    try {
      return question(database);
    } catch (error) {
      if (!(error instanceof RowDamage) && !isIndexDamage(error)) throw error;
      database.close();
      database = await rebuild(store, driver, progress);
      return question(database);
    }
  };
  return {
    driver: 'index',
    rows: (filter) => readRows((after) => ask((current) => readPage(current, filter, after))),
    damaged: () => ask((current) => readDamaged(store, current)),
    close: () => database.close(),
  };
}

async function openOrRebuild(store: Store, driver: SqlDriver, progress?: Progress): Promise<SqlDatabase> {
  try {
    const database = openIndexFile(store, driver);
    if (database !== null) return await updateOrClose(store, database);
  } catch (error) {
    if (!isIndexDamage(error)) throw error;
  }
  return await rebuild(store, driver, progress);
}

async function updateOrClose(store: Store, database: SqlDatabase): Promise<SqlDatabase> {
  try {
    if (findChangedMonths(store, database).length > 0)
      (await import('./index-writer.ts')).updateIndex(store, database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

async function rebuild(store: Store, driver: SqlDriver, progress?: Progress): Promise<SqlDatabase> {
  (await import('./index-writer.ts')).rebuildIndex(store, driver, progress);
  const database = openIndexFile(store, driver);
  if (database !== null) return database;
  throw new HandoverError('HANDOVER_STORE_DAMAGED', `${pathOfIndex(store)} cannot be built`, {
    hint: 'Set HANDOVER_SQLITE=none to work without an index, and run: handover doctor',
  });
}

type PageReader = (after: IndexRow | null) => Promise<IndexRow[]>;

async function* readRows(readPageAfter: PageReader): AsyncIterable<CatalogRow> {
  let last: IndexRow | null = null;
  for (;;) {
    const page: IndexRow[] = await readPageAfter(last);
    for (const row of page) yield parseShown(row);
    if (page.length < PAGE_ROWS) return;
    last = page.at(-1) ?? null;
  }
}

function readPage(database: SqlDatabase, filter: Filter, after: IndexRow | null): IndexRow[] {
  const { where, values } = translate(filter, after);
  const columns = COLUMNS.map((column) => `h.${column}`).join(', ');
  const texts = filter.query === undefined ? '' : 'JOIN texts t ON t.id = h.id';
  return database
    .prepare(
      `SELECT ${columns} FROM handovers h ${texts} ${where} ORDER BY h.created_ms DESC, h.id DESC LIMIT ${PAGE_ROWS}`,
    )
    .all(...values)
    .map((value) => {
      const row = parseIndexRow(value);
      if (row === null) throw new RowDamage();
      return row;
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
    const { id, name, root } = filter.project;
    add(
      '(h.project_id = ? OR h.project_name = ? OR h.root = ?)',
      id ?? null,
      name?.toLowerCase() ?? null,
      root ?? null,
    );
  }
  if (filter.query !== undefined) add('instr(t.body, ?) > 0', filter.query.toLowerCase());
  return { where: terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`, values };
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
