import { measureRegularFile } from '../platform/durable-file.ts';
import { readSqlErrorCode, type SqlDatabase, type SqlDriver } from '../platform/sql.ts';
import { INDEX_VERSION, numberIn, pathOfIndex } from './index-schema.ts';
import type { Store } from './store.ts';

const SQLITE_CORRUPT = 11;
const SQLITE_NOT_A_DATABASE = 26;
const SQLITE_ERROR = 1;
const SQLITE_READONLY = 8;

/** Whether an error says that the index itself is broken: then it is thrown away and built anew. */
export function isIndexDamage(error: unknown): boolean {
  const code = readSqlErrorCode(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOT_A_DATABASE || code === SQLITE_ERROR;
}

/** Whether an error may say that the file was replaced by a new index while it was open: opening it again then helps. */
export function isIndexReplaced(error: unknown): boolean {
  return readSqlErrorCode(error) === SQLITE_READONLY;
}

/** Whether an error is SQLite's, of any kind: the index cannot be used now, the files still can. */
export function isIndexTrouble(error: unknown): boolean {
  return readSqlErrorCode(error) !== null;
}

/** Opens the index as it stands; null when there is none of this version. */
export function openIndexFile(store: Store, driver: SqlDriver): SqlDatabase | null {
  const path = pathOfIndex(store);
  if ((measureRegularFile(path) ?? 0) === 0) return null;
  // SQLite opens these by itself where they stand, and would wait for the other end of a pipe.
  for (const companion of ['-journal', '-wal', '-shm']) measureRegularFile(`${path}${companion}`);
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
