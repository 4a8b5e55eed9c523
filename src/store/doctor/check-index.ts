import { HandoverError, isErrno } from '../../errors.ts';
import { isHandoverId } from '../../model/id.ts';
import {
  CACHES_OF_FEATURES,
  checkCacheSeal,
  isCacheDamage,
  isCacheTrouble,
  openCacheFile,
  pathOfCache,
  textIn,
} from '../../platform/cache-database.ts';
import { dropCache, withCacheLock } from '../../platform/cache-writer.ts';
import { measureRegularFile } from '../../platform/durable-file.ts';
import type { SqlDatabase, SqlDriver } from '../../platform/sqlite.ts';
import { foldSearchText } from '../catalog.ts';
import { hasHandover, readHandover } from '../handovers.ts';
import { COLUMNS, INDEX, isIndexRow, makeIndexRow } from '../index-schema.ts';
import { rebuildIndex, updateIndex } from '../index-writer.ts';
import type { Store } from '../store.ts';
import type { Finding, IntactHandovers, Remedy } from './check-files.ts';

/** Checks the index byte for byte where it is sealed, then with SQLite's own check, then row for row against the handovers. */
export function checkIndex(store: Store, driver: SqlDriver, intact: IntactHandovers): Finding[] {
  return checkCache(store, INDEX.name, {
    findProblem: () => findIndexProblem(store, driver, intact),
    remedy: { description: 'rebuild it', apply: () => rebuildIndex(store, driver) },
    unaffected: 'no handover is affected',
  });
}

/** Checks the caches of features by their seals and with SQLite's own check: they are rebuilt by whoever needs them. */
export function checkCaches(store: Store, driver: SqlDriver | null): Finding[] {
  return CACHES_OF_FEATURES.flatMap((name) =>
    checkCache(store, name, {
      findProblem: () => findCacheProblem(store, driver, name),
      remedy: { description: 'remove it', apply: () => dropCache(store, { name }) },
      unaffected: 'nothing that was saved is affected',
    }),
  );
}

type CacheCheck = { findProblem(): string | null; remedy: Remedy; unaffected: string };

/** A check that fails is damage too, unless the cache is in use, or this user may not write there. */
function checkCache(store: Store, name: string, { findProblem, remedy, unaffected }: CacheCheck): Finding[] {
  const path = pathOfCache(store, { name });
  const describe = (problem: string): Finding[] => {
    const message = `${path} is damaged: ${problem}. It is a cache: ${unaffected}`;
    return [{ code: 'damaged-index', level: 'damage', path, message, remedy }];
  };
  try {
    const problem = measureRegularFile(path) === null ? null : findProblem();
    return problem === null ? [] : describe(problem);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isLocked = error instanceof HandoverError && error.code === 'HANDOVER_LOCKED';
    if (isCacheDamage(error) || (error instanceof HandoverError && !isLocked)) return describe(error.message);
    if (!isLocked && !isErrno(error) && !isCacheTrouble(error)) throw error;
    const message = `${path} was not checked: ${error.message}`;
    return [{ code: 'index-unchecked', level: 'notice', path, message, remedy: null }];
  }
}

function findCacheProblem(store: Store, driver: SqlDriver | null, name: string): string | null {
  const path = pathOfCache(store, { name });
  if (measureRegularFile(path) === 0) return null;
  return withCacheLock(store, { name }, () => {
    const problem = findSealProblem(store, name);
    if (problem !== null || driver === null) return problem;
    const database = driver.open(path);
    try {
      database.exec('PRAGMA busy_timeout = 2000');
      return findIntegrityProblem(database);
    } finally {
      database.close();
    }
  });
}

function findIndexProblem(store: Store, driver: SqlDriver, intact: IntactHandovers): string | null {
  const problem = withCacheLock(store, INDEX, () => findSealProblem(store, INDEX.name));
  const database = problem === null ? openCacheFile(store, driver, INDEX) : null;
  if (database === null) return problem;
  try {
    const broken = findIntegrityProblem(database);
    if (broken !== null) return broken;
    updateIndex(store, database);
    return compareRows(store, database, intact);
  } finally {
    database.close();
  }
}

/** Call it under the lock of the cache. */
function findSealProblem(store: Store, name: string): string | null {
  return checkCacheSeal(store, { name }, { findRot: true }) === 'broken'
    ? `its bytes do not match its seal, ${name}.sum`
    : null;
}

function findIntegrityProblem(database: SqlDatabase): string | null {
  const verdict = textIn(database.prepare('PRAGMA integrity_check(1)').get(), 'integrity_check');
  return verdict === 'ok' ? null : verdict;
}

function compareRows(store: Store, database: SqlDatabase, intact: IntactHandovers): string | null {
  const listed = database.prepare('SELECT id FROM handovers').all();
  // Handovers saved since the files were checked are in the index by now.
  const ids = listed.map((row) => textIn(row, 'id'));
  const stray = ids.find((id) => !intact.has(id) && !(isHandoverId(id) && hasHandover(store, id)));
  if (stray !== undefined) return `it lists ${JSON.stringify(stray)}, which is not there`;
  const findRow = database.prepare(`SELECT ${COLUMNS.join(', ')} FROM handovers WHERE id = ?`);
  const findText = database.prepare('SELECT body FROM texts WHERE id = ?');
  for (const id of intact.keys()) {
    const handover = readHandover(store, id);
    if (handover === null) continue;
    const row = findRow.get(id);
    if (!isIndexRow(row) || row.mark !== makeIndexRow(handover).mark) return `its row for ${id} is wrong`;
    if (textIn(findText.get(id), 'body') !== foldSearchText(handover)) return `its text for ${id} is wrong`;
  }
  return null;
}
