import { isFailure } from '../errors.ts';
import { isCacheTrouble, numberIn, openCache, RowDamage, textIn } from '../platform/cache-database.ts';
import { measureRegularFile } from '../platform/durable-file.ts';
import { pathExists } from '../platform/folders.ts';
import { loadSqlDriver, type SqlDatabase, type SqlDriver, type SqlValue } from '../platform/sqlite.ts';
import {
  type Catalog,
  type CatalogRow,
  endOfPrefix,
  type Filter,
  isCatalogRow,
  listProjectIds,
  type UnreadableFile,
  withAliases,
} from './catalog.ts';
import * as schema from './index-schema.ts';
import type { Progress } from './index-writer.ts';
import { hasPendingImports, pathOfHandover, type Store } from './store.ts';

/** `indexFailure`: why the index is not used although there could be one; null when all is well. */
type OpenedCatalog = { catalog: Catalog; indexFailure: Error | null };

/** Opens the index where there can be one, else reads the files: a cache that fails must not hide them. */
export async function openCatalog(store: Store, progress?: Progress): Promise<OpenedCatalog> {
  let indexFailure: Error | null = null;
  if (pathExists(store.root)) {
    await finishPendingImports(store);
    const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
    try {
      if (driver !== null) return { catalog: await openIndexCatalog(store, driver, progress), indexFailure };
    } catch (error) {
      if (!isRecoverable(error)) throw error;
      indexFailure = error;
    }
  }
  const { openScanCatalog } = await import('./scan-catalog.ts');
  return { catalog: openScanCatalog(store), indexFailure };
}

/** Completes interrupted imports, so that they are listed. If that fails, the rest is listed all the same. */
export async function finishPendingImports(store: Store): Promise<void> {
  if (!hasPendingImports(store)) return;
  try {
    (await import('./pending-imports.ts')).finishImports(store);
  } catch (error) {
    if (!isRecoverable(error)) throw error;
  }
}

function isRecoverable(error: unknown): error is Error {
  return isFailure(error) || isCacheTrouble(error);
}

/** Called only when something cannot be found by the files alone. */
export type CatalogOpener = () => Promise<Catalog>;

/** For work that may need the catalog: it is opened on demand, and closed after use. */
export async function withCatalogOpener<T>(store: Store, work: (open: CatalogOpener) => Promise<T>): Promise<T> {
  const catalogs: Catalog[] = [];
  try {
    return await work(async () => {
      const { catalog } = await openCatalog(store);
      catalogs.push(catalog);
      return catalog;
    });
  } finally {
    for (const catalog of catalogs) catalog.close();
  }
}

/** As many rows as a person is shown, and one more to see whether there are others. */
const FIRST_PAGE_ROWS = 21;
const PAGE_ROWS = 500;

const MAX_COUNTED_BYTES = 8 * 1024 * 1024;

/** Answers from the index, updated first; rebuilt when missing, old or found damaged, even in the middle of a list. */
export async function openIndexCatalog(store: Store, driver: SqlDriver, progress?: Progress): Promise<Catalog> {
  const { ask, close } = await openCache(store, driver, {
    cache: schema.INDEX,
    update: (database) => update(store, database),
    rebuild: async () => (await import('./index-writer.ts')).rebuildIndex(store, driver, progress),
  });
  return {
    driver: 'index',
    async *rows(asked) {
      const filter = withAliases(store, asked);
      let after: schema.IndexRow | null = null;
      for (let size = FIRST_PAGE_ROWS; ; size = PAGE_ROWS) {
        const page: PageRow[] = await ask((database) => readPage(database, filter, after, size));
        for (const { shown } of page) yield shown;
        if (page.length < size) return;
        after = page.at(-1)?.row ?? null;
      }
    },
    captured: (sessions) => ask((database) => readCaptured(database, sessions)),
    unreadable: () => ask((database) => readUnreadable(store, database)),
    close,
  };
}

async function update(store: Store, database: SqlDatabase): Promise<void> {
  if (schema.findChangedMonths(store, database).length > 0)
    (await import('./index-writer.ts')).updateIndex(store, database);
  if ((measureRegularFile(schema.pathOfIndex(store)) ?? 0) <= MAX_COUNTED_BYTES && !schema.isComplete(database))
    throw new RowDamage();
}

type PageRow = { row: schema.IndexRow; shown: CatalogRow };

/** At most `size` rows: those that follow the row `after`, or the first ones. */
function readPage(database: SqlDatabase, filter: Filter, after: schema.IndexRow | null, size: number): PageRow[] {
  const { where, values } = translateFilter(filter, after);
  const columns = schema.COLUMNS.map((column) => `h.${column}`).join(', ');
  const texts = filter.query === undefined ? '' : 'JOIN texts t ON t.id = h.id';
  const order = `ORDER BY ${orderOf(filter)
    .map((column) => `${column} DESC`)
    .join(', ')} LIMIT ${size}`;
  const rows = database.prepare(`SELECT ${columns} FROM handovers h ${texts} ${where} ${order}`).all(...values);
  return rows.map((row) => {
    if (!schema.isIndexRow(row)) throw new RowDamage();
    const shown: unknown = JSON.parse(row.shown);
    if (!isCatalogRow(shown)) throw new RowDamage();
    return { row, shown };
  });
}

/** Of work of the same time, what was captured last is newest. */
function orderOf({ byWork = false }: Filter): string[] {
  return [...(byWork ? ['h.worked_ms'] : []), 'h.created_ms', 'h.id'];
}

function translateFilter(filter: Filter, after: schema.IndexRow | null): { where: string; values: SqlValue[] } {
  const { idPrefix, sinceMs, untilMs, agent, project, query, byWork = false } = filter;
  const time = byWork ? 'h.worked_ms' : 'h.created_ms';
  const terms: string[] = [];
  const values: SqlValue[] = [];
  const add = (term: string, ...given: SqlValue[]): void => {
    terms.push(term);
    values.push(...given);
  };
  if (after !== null) {
    const place = [...(byWork ? [after.worked_ms] : []), after.created_ms, after.id];
    add(`(${orderOf(filter).join(', ')}) < (${place.map(() => '?').join(', ')})`, ...place);
  }
  if (idPrefix !== undefined) add('h.id >= ? AND h.id < ?', idPrefix, endOfPrefix(idPrefix));
  if (sinceMs !== undefined) add(`${time} >= ?`, sinceMs);
  if (untilMs !== undefined) add(`${time} <= ?`, untilMs);
  if (agent !== undefined) add('h.agent = ?', agent.toLowerCase());
  if (project !== undefined) {
    // Only the marks that are given: a project's id alone is looked up by an index of its own.
    const marks = Object.entries({
      project_id: listProjectIds(project),
      project_name: project.name?.toLowerCase(),
      root: project.root,
    }).flatMap(([column, values]) =>
      (values === undefined ? [] : [values].flat()).map((value) => ({ term: `h.${column} = ?`, value })),
    );
    const any = marks.map(({ term }) => term).join(' OR ');
    add(any === '' ? '0' : `(${any})`, ...marks.map(({ value }) => value));
  }
  if (query !== undefined) add('instr(t.body, ?) > 0', query.toLowerCase());
  return { where: terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`, values };
}

/** From an index alone: thousands take milliseconds. */
function readCaptured(database: SqlDatabase, sessions: readonly string[]): Pick<CatalogRow, 'agent' | 'session'>[] {
  const rows = database
    .prepare(
      `SELECT DISTINCT agent, ${schema.SESSION} AS session FROM handovers
       WHERE ${schema.SESSION} IN (SELECT value FROM json_each(?))`,
    )
    .all(JSON.stringify(sessions));
  return rows.map((row) => ({ agent: textIn(row, 'agent'), session: textIn(row, 'session') }));
}

function readUnreadable(store: Store, database: SqlDatabase): UnreadableFile[] {
  const rows = database.prepare('SELECT id, reason, is_newer FROM damaged ORDER BY id').all();
  return rows.map((row) => ({
    path: pathOfHandover(store, textIn(row, 'id')),
    reason: textIn(row, 'reason'),
    isNewer: numberIn(row, 'is_newer') === 1,
  }));
}
