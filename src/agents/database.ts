import {
  loadSqlDriver,
  openForeignDatabase,
  readSqlErrorCode,
  type SqlDatabase,
} from '../platform/sqlite.ts';
import { asRow } from './json.ts';

/**
 * Opens a database of an agent for reading; null when there is none, or nothing to read it with. `wanted` is the name
 * of a driver as in `loadSqlDriver`.
 */
export function openDatabase(path: string, wanted?: string): SqlDatabase | null {
  const driver = loadSqlDriver(wanted);
  return driver === null ? null : openForeignDatabase(driver, path);
}

/** A damaged database gives what can be read of it: null says that a call failed for a reason of SQLite's. */
export function tryQuery<T>(query: () => T): T | null {
  try {
    return query();
  } catch (error) {
    if (readSqlErrorCode(error) === null) throw error;
    return null;
  }
}

/** Columns by name, and what they hold. Numbers are read as floating point: drivers refuse integers above 2^53. */
export type Columns = Readonly<Record<string, 'text' | 'number'>>;

export interface Table {
  name: string;
  columns: Columns;
}

/**
 * The start of a query for some columns of a table, `SELECT … FROM …`. Columns come and go between releases of an agent:
 * one that is missing reads as null. Null when there is no such table.
 */
export function selectFrom(database: SqlDatabase, { name, columns }: Table): string | null {
  const present = new Set(
    database
      .prepare('SELECT CAST(name AS TEXT) AS name FROM pragma_table_info(?)')
      .all(name)
      .map((row) => asRow(row)?.name),
  );
  if (present.size === 0) return null;
  const list = Object.entries(columns).map(([column, kind]) => {
    if (!present.has(column)) return `NULL AS "${column}"`;
    return `CAST("${column}" AS ${kind === 'text' ? 'TEXT' : 'REAL'}) AS "${column}"`;
  });
  return `SELECT ${list.join(', ')} FROM "${name}"`;
}

export function hasTables(database: SqlDatabase, ...names: readonly string[]): boolean {
  return names.every((name) => selectFrom(database, { name, columns: {} }) !== null);
}
