import { join } from 'node:path';
import { sha256Hex } from '../model/checksum.ts';
import {
  ensurePrivateFile,
  identifyFile,
  makeTempPath,
  measureRegularFile,
  moveFileDurably,
  readRegularFile,
  removeFile,
  syncFile,
  writeFileDurably,
} from '../platform/durable-file.ts';
import { withLock } from '../platform/lock.ts';
import { ensurePrivateFolder } from '../platform/private-folder.ts';
import type { SqlDatabase, SqlDriver } from '../platform/sql.ts';
import { CREATE_TABLES, pathOfIndex } from './index-schema.ts';
import {
  extractForIndex,
  findNews,
  followFiles,
  type IndexEntry,
  isOutstanding,
  type MonthNews,
  type Progress,
} from './index-sync.ts';
import { LOCKS, type Store } from './store.ts';

const LOCK_WAIT_MS = 2000;

/**
 * Brings an open index in line with the files, if it is not. Only then the lock is taken and something is written; and
 * not even then, if whoever had the lock before wrote all that was found missing.
 */
export function updateIndex(store: Store, database: SqlDatabase): void {
  const wanted = findNews(store, database);
  if (wanted.length === 0) return;
  const extract = extractAhead(store, wanted);
  withIndexLock(store, () => {
    const news = findNews(store, database);
    if (!isOutstanding(wanted, news)) return;
    removeFile(pathOfSeal(store));
    inTransaction(database, () => followFiles(database, { news, extract }));
    sealIndex(store);
  });
}

const MAX_AHEAD = 5000;

/** Reads what can be read before the lock is taken, so that others wait for the writing alone. */
function extractAhead(store: Store, news: readonly MonthNews[]): (id: string) => IndexEntry {
  const ids = news.flatMap(({ added }) => added).slice(0, MAX_AHEAD);
  const ahead = new Map(ids.map((id) => [id, extractForIndex(store, id)]));
  return (id) => ahead.get(id) ?? extractForIndex(store, id);
}

/**
 * Builds the index anew beside the old one and puts it in its place by a rename. The old one's rollback journal goes
 * first: next to the new file it would be taken for the new file's own. One that somebody else put there meanwhile is
 * left alone.
 */
export function rebuildIndex(store: Store, driver: SqlDriver, progress?: Progress): void {
  const path = pathOfIndex(store);
  const old = identifyFile(path);
  withIndexLock(store, () => {
    if (identifyFile(path) !== old) return;
    const temp = makeTempPath(path);
    try {
      buildIndex(store, driver, { path: temp, progress });
      removeFile(pathOfSeal(store));
      removeFile(`${path}-journal`);
      moveFileDurably(temp, path);
    } catch (error) {
      removeFile(temp);
      throw error;
    }
    sealIndex(store);
  });
}

/** A file that nobody else knows needs no rollback journal and no flush but the last. */
function buildIndex(
  store: Store,
  driver: SqlDriver,
  options: { path: string; progress: Progress | undefined },
): void {
  ensurePrivateFile(options.path);
  const database = driver.open(options.path);
  try {
    database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
    inTransaction(database, () => {
      database.exec(CREATE_TABLES);
      followFiles(database, {
        news: findNews(store, database),
        extract: (id) => extractForIndex(store, id),
        progress: options.progress,
      });
    });
  } finally {
    database.close();
  }
  syncFile(options.path);
}

function inTransaction(database: SqlDatabase, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
  database.exec('COMMIT');
}

/** Writers of the index take turns, also those that replace the file, which SQLite's own lock cannot see. */
export function withIndexLock<T>(store: Store, work: () => T): T {
  const folder = ensurePrivateFolder(store.root, LOCKS);
  return withLock({ folder, name: 'index', waitMs: LOCK_WAIT_MS, clock: store.machine.clock }, work);
}

/** Hashing a larger index would cost more than the update that it follows; its rows are then checked by their marks alone. */
const MAX_SEALED_BYTES = 8 * 1024 * 1024;

function pathOfSeal(store: Store): string {
  return join(store.root, 'index.sum');
}

/** Notes the digest of the index file, by which rot in any byte of it can be seen, also in bytes that SQLite does not use. */
function sealIndex(store: Store): void {
  const path = pathOfIndex(store);
  if ((measureRegularFile(path) ?? 0) > MAX_SEALED_BYTES) return;
  writeFileDurably(pathOfSeal(store), `${sha256Hex(readRegularFile(path, MAX_SEALED_BYTES))}\n`);
}

export type SealState = 'intact' | 'broken' | 'none';

/** To be called under the index lock: without it, a writer may be between its commit and its seal. */
export function checkIndexSeal(store: Store): SealState {
  const seal = pathOfSeal(store);
  const path = pathOfIndex(store);
  if (measureRegularFile(seal) === null || measureRegularFile(path) === null) return 'none';
  const expected = readRegularFile(seal, 1024).toString('latin1');
  return expected === `${sha256Hex(readRegularFile(path, Number.MAX_SAFE_INTEGER))}\n` ? 'intact' : 'broken';
}
