import { join } from 'node:path';
import { HandoverError } from '../errors.ts';
import { sha256Hex } from '../model/hash.ts';
import { describeFileState, measureRegularFile, readRegularFile } from './durable-file.ts';
import type { Clock } from './machine.ts';
import { readSqlErrorCode, type SqlDatabase, type SqlDriver } from './sqlite.ts';

/** The folder of the caches, and the clock for waiting on their locks. */
export interface CacheFolder {
  root: string;
  machine: { clock: Clock };
}

/** A database in the store that can be made again from other files at any time: `<name>.sqlite`. */
export interface CacheDatabase {
  name: string;
  /** Raised with every change of the tables or of what is in them: a file of another version is rebuilt. */
  version: number;
}

/** Caches that features keep in the store for themselves, by their names. */
export const CACHES_OF_FEATURES = ['search', 'sessions', 'vectors'] as const;

export type CacheName = Pick<CacheDatabase, 'name'>;

export function pathOfCache(folder: CacheFolder, { name }: CacheName): string {
  return join(folder.root, `${name}.sqlite`);
}

const SQLITE_ERROR = 1;
const SQLITE_READONLY = 8;
const SQLITE_CORRUPT = 11;
const SQLITE_NOT_A_DATABASE = 26;

/** Raised when a row is not what was put in, or missing. */
export class RowDamage extends Error {}

/** Whether an error says that the database itself is broken: then it is deleted and rebuilt. */
export function isCacheDamage(error: unknown): boolean {
  if (error instanceof RowDamage) return true;
  const code = readSqlErrorCode(error);
  return code === SQLITE_ERROR || code === SQLITE_CORRUPT || code === SQLITE_NOT_A_DATABASE;
}

/** Whether an error is SQLite's, of any kind: the cache cannot be used now, the files still can. */
export function isCacheTrouble(error: unknown): boolean {
  return readSqlErrorCode(error) !== null;
}

/** Opens a cache as it stands; null when there is none of this version. */
export function openCacheFile(folder: CacheFolder, driver: SqlDriver, cache: CacheDatabase): SqlDatabase | null {
  const path = pathOfCache(folder, cache);
  if ((measureRegularFile(path) ?? 0) === 0) return null;
  // SQLite opens these by itself where they stand, and would wait for the other end of a pipe.
  for (const companion of ['-journal', '-wal', '-shm']) measureRegularFile(`${path}${companion}`);
  const database = driver.open(path);
  let isOfVersion = false;
  try {
    database.exec('PRAGMA busy_timeout = 2000; PRAGMA secure_delete = ON');
    const row = database.prepare('PRAGMA user_version').get();
    isOfVersion = numberIn(row, 'user_version') === cache.version;
    return isOfVersion ? database : null;
  } finally {
    if (!isOfVersion) database.close();
  }
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

/** How a cache is updated and rebuilt. Both modules are loaded only when they are needed. */
interface CacheMaintenance {
  cache: CacheDatabase;
  /** Brings an open cache in line with the files, or throws what `isCacheDamage` knows. */
  update(database: SqlDatabase): void | Promise<void>;
  rebuild(): void | Promise<void>;
}

export interface OpenCache {
  /** Runs a query. When it meets damage, the cache is rebuilt and the query runs again; a replaced one is opened again. */
  ask<T>(question: (database: SqlDatabase) => T): Promise<T>;
  close(): void;
}

/** Opens a cache in line with the files. One that is missing, old or damaged is rebuilt. */
export async function openCache(folder: CacheFolder, driver: SqlDriver, keeping: CacheMaintenance): Promise<OpenCache> {
  const openUpdated = async (): Promise<SqlDatabase | null> => {
    const opened = openCacheFile(folder, driver, keeping.cache);
    try {
      if (opened !== null) await keeping.update(opened);
      return opened;
    } catch (error) {
      opened?.close();
      throw error;
    }
  };
  const rebuild = async (): Promise<SqlDatabase> => {
    await keeping.rebuild();
    // It may be the work of somebody else who came first, from before the last save of this process.
    const built = await retryReplaced(openUpdated);
    if (built !== null) return built;
    throw new HandoverError('HANDOVER_STORE_DAMAGED', `${pathOfCache(folder, keeping.cache)} cannot be built`, {
      hint: 'Set HANDOVER_SQLITE=none to work without an index, and run: handover doctor',
    });
  };
  const open = async (): Promise<SqlDatabase> => (await openUnlessDamaged(openUpdated)) ?? (await rebuild());
  let database = await open();
  let isOpen = true;
  const close = (): void => {
    if (isOpen) database.close();
    isOpen = false;
  };
  return {
    close,
    ask: async (question) => {
      try {
        return question(database);
      } catch (error) {
        if (!isCacheDamage(error) && !isReplaced(error)) throw error;
        close();
        database = isReplaced(error) ? await open() : await rebuild();
        isOpen = true;
        return question(database);
      }
    },
  };
}

const MAX_REPLACEMENTS = 5;

/** The file was replaced by a new one while it was open, as when several processes build it at once. */
function isReplaced(error: unknown): boolean {
  return readSqlErrorCode(error) === SQLITE_READONLY;
}

/** Opens a file again that was replaced while it was opened: that is no damage. */
async function retryReplaced<T>(open: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await open();
    } catch (error) {
      if (!isReplaced(error) || attempt === MAX_REPLACEMENTS) throw error;
    }
  }
}

async function openUnlessDamaged(open: () => Promise<SqlDatabase | null>): Promise<SqlDatabase | null> {
  try {
    return await retryReplaced(open);
  } catch (error) {
    if (!isCacheDamage(error)) throw error;
    return null;
  }
}

/** Hashing a larger file would cost more than the update that it follows. */
const MAX_HASHED_BYTES = 8 * 1024 * 1024;

export function pathOfSeal(folder: CacheFolder, { name }: CacheName): string {
  return join(folder.root, `${name}.sum`);
}

/**
 * The size and time of a file, by which it is seen that somebody else wrote to it, and its digest, by which rot in any
 * byte can be seen, also in bytes that SQLite does not use. A large one has no digest; its rows have marks of their own.
 */
export function computeSeal(path: string): string {
  const isHashed = (measureRegularFile(path) ?? 0) <= MAX_HASHED_BYTES;
  return `${describeState(path)}\n${isHashed ? `${sha256Hex(readRegularFile(path, MAX_HASHED_BYTES))}\n` : ''}`;
}

function describeState(path: string): string {
  return `as of ${describeFileState(path)}`;
}

/**
 * By the digest only where size or time differ, unless rot is looked for: hashing would take longer than a query. Under
 * the lock it is certain; without it, a writer may be between its commit and its seal.
 */
export function checkCacheSeal(
  folder: CacheFolder,
  cache: CacheName,
  { findRot = false }: { findRot?: boolean } = {},
): 'intact' | 'broken' | 'none' {
  const seal = pathOfSeal(folder, cache);
  const path = pathOfCache(folder, cache);
  if (measureRegularFile(seal) === null || measureRegularFile(path) === null) return 'none';
  const [state, digest] = readRegularFile(seal, 1024).toString('latin1').split('\n');
  if (state === describeState(path) && (digest === '' || !findRot)) return 'intact';
  return digest !== '' && computeSeal(path).split('\n')[1] === digest ? 'intact' : 'broken';
}
