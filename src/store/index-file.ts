import { measureRegularFile } from '../platform/durable-file.ts';
import { readSqlErrorCode, type SqlDatabase, type SqlDriver } from '../platform/sql.ts';
import { INDEX_VERSION, numberIn, pathOfIndex } from './index-schema.ts';
import type { Store } from './store.ts';

const SQLITE_CORRUPT = 11;
const SQLITE_NOT_A_DATABASE = 26;
const SQLITE_ERROR = 1;

/** Whether an error says that the index itself is broken: then it is thrown away and built anew. */
export function isIndexDamage(error: unknown): boolean {
  const code = readSqlErrorCode(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOT_A_DATABASE || code === SQLITE_ERROR;
}

/** Whether an error is SQLite's, of any kind: the index cannot be used now, the files still can. */
export function isIndexTrouble(error: unknown): boolean {
  return readSqlErrorCode(error) !== null;
}

/** Opens the index as it stands; null when there is none of this version. */
export function openIndexFile(store: Store, driver: SqlDriver): SqlDatabase | null {
  const path = pathOfIndex(store);
  if ((measureRegularFile(path) ?? 0) === 0) return null;
  const database = driver.open(path);
  try {
    database.exec('PRAGMA busy_timeout = 2000; PRAGMA secure_delete = ON');
    if (numberIn(database.prepare('PRAGMA user_version').get(), 'user_version') === INDEX_VERSION)
      return database;
  } catch (error) {
    database.close();
    throw error;
  }
  database.close();
  return null;
}
