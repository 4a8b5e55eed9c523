import { join } from 'node:path';
import type { Store } from '../store/store.ts';
import { measureRegularFile } from './durable-file.ts';
import { readSqlErrorCode, type SqlDatabase, type SqlDriver } from './sql.ts';

/** A database in the store that can be made again from other files at any time: `<name>.sqlite`. */
export interface CacheDatabase {
  name: string;
  /** Raised with every change of the tables or of what is in them: a file of another version is built anew. */
  version: number;
}

/** Caches that features keep in the store for themselves, by their names. */
export const CACHES_OF_FEATURES = ['search', 'sessions', 'vectors'] as const;

export function pathOfCache(store: Store, { name }: Pick<CacheDatabase, 'name'>): string {
  return join(store.root, `${name}.sqlite`);
}

const SQLITE_CORRUPT = 11;
const SQLITE_NOT_A_DATABASE = 26;
const SQLITE_ERROR = 1;
const SQLITE_READONLY = 8;

/** Raised when a row is not what was put in, or missing. */
export class RowDamage extends Error {}

/** Whether an error says that the database itself is broken: then it is thrown away and built anew. */
export function isCacheDamage(error: unknown): boolean {
  if (error instanceof RowDamage) return true;
  const code = readSqlErrorCode(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOT_A_DATABASE || code === SQLITE_ERROR;
}

/** Whether an error may say that the file was replaced by a new one while it was open: opening it again then helps. */
export function isCacheReplaced(error: unknown): boolean {
  return readSqlErrorCode(error) === SQLITE_READONLY;
}

/** Whether an error is SQLite's, of any kind: the cache cannot be used now, the files still can. */
export function isCacheTrouble(error: unknown): boolean {
  return readSqlErrorCode(error) !== null;
}

/** Opens a cache as it stands; null when there is none of this version. */
export function openCacheFile(store: Store, driver: SqlDriver, cache: CacheDatabase): SqlDatabase | null {
  const path = pathOfCache(store, cache);
  if ((measureRegularFile(path) ?? 0) === 0) return null;
  // SQLite opens these by itself where they stand, and would wait for the other end of a pipe.
  for (const companion of ['-journal', '-wal', '-shm']) measureRegularFile(`${path}${companion}`);
  const database = driver.open(path);
  try {
    database.exec('PRAGMA busy_timeout = 2000; PRAGMA secure_delete = ON');
    if (numberIn(database.prepare('PRAGMA user_version').get(), 'user_version') === cache.version)
      return database;
  } catch (error) {
    database.close();
    throw error;
  }
  database.close();
  return null;
}

export function textIn(row: unknown, column: string): string {
  const value = valueIn(row, column);
  return typeof value === 'string' ? value : '';
}

export function numberIn(row: unknown, column: string): number {
  const value = valueIn(row, column);
  return typeof value === 'number' ? value : Number.NaN;
}

function valueIn(row: unknown, column: string): unknown {
  return typeof row === 'object' && row !== null ? Reflect.get(row, column) : undefined;
}
