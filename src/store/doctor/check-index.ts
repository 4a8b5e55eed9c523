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
import { COLUMNS, INDEX, isIndexRow, makeIndexRow, pathOfIndex } from '../index-schema.ts';
import { checkIndexSeal, rebuildIndex, updateIndex, withIndexLock } from '../index-writer.ts';
import type { Store } from '../store.ts';
import type { Finding, IntactHandovers } from './check-files.ts';

/** Checks the index byte for byte where it is sealed, then by SQLite's own check, then row for row against the handovers. */
export function checkIndex(store: Store, driver: SqlDriver, intact: IntactHandovers): Finding[] {
  try {
    if (measureRegularFile(pathOfIndex(store)) === null) return [];
    const problem = findProblem(store, driver, intact);
    return problem === null ? [] : [describeIndex(store, driver, problem)];
  } catch (error) {
    const path = pathOfIndex(store);
    return [explainFailure(error, { path, describe: (problem) => describeIndex(store, driver, problem) })];
  }
}

/** What kept a cache from being checked: damage, unless somebody else is at it, or this user may not write there. */
function explainFailure(
  error: unknown,
  { path, describe }: { path: string; describe(problem: string): Finding },
): Finding {
  if (!(error instanceof Error)) throw error;
  const isLocked = error instanceof HandoverError && error.code === 'HANDOVER_LOCKED';
  if (isCacheDamage(error) || (error instanceof HandoverError && !isLocked)) return describe(error.message);
  if (!isLocked && !isErrno(error) && !isCacheTrouble(error)) throw error;
  const message = `${path} was not checked: ${error.message}`;
  return { code: 'index-unchecked', level: 'notice', path, message, remedy: null };
}

/** Checks the caches of features by their seals and by SQLite's own check: they are built anew by whoever needs them. */
export function checkCaches(store: Store, driver: SqlDriver | null): Finding[] {
  return CACHES_OF_FEATURES.flatMap((name): Finding[] => {
    const path = pathOfCache(store, { name });
    try {
      if ((measureRegularFile(path) ?? 0) === 0) return [];
      const problem = findCacheProblem(store, driver, name);
      return problem === null ? [] : [describeCache(store, name, problem)];
    } catch (error) {
      return [explainFailure(error, { path, describe: (problem) => describeCache(store, name, problem) })];
    }
  });
}

function findCacheProblem(store: Store, driver: SqlDriver | null, name: string): string | null {
  return withCacheLock(store, { name }, () => {
    if (checkCacheSeal(store, { name }) === 'broken') return `its bytes do not match its seal, ${name}.sum`;
    if (driver === null) return null;
    const database = driver.open(pathOfCache(store, { name }));
    try {
      database.exec('PRAGMA busy_timeout = 2000');
      return findIntegrityProblem(database);
    } finally {
      database.close();
    }
  });
}

function describeCache(store: Store, name: string, problem: string): Finding {
  const path = pathOfCache(store, { name });
  const message = `${path} is damaged: ${problem}. It is a cache: nothing that was kept is affected`;
  const remedy = { description: 'remove it', apply: () => dropCache(store, { name }) };
  return { code: 'damaged-index', level: 'damage', path, message, remedy };
}

function describeIndex(store: Store, driver: SqlDriver, problem: string): Finding {
  const path = pathOfIndex(store);
  return {
    code: 'damaged-index',
    level: 'damage',
    path,
    message: `${path} is damaged: ${problem}. It is a cache: no handover is affected`,
    remedy: { description: 'build it anew', apply: () => rebuildIndex(store, driver) },
  };
}

function findProblem(store: Store, driver: SqlDriver, intact: IntactHandovers): string | null {
  if (withIndexLock(store, () => checkIndexSeal(store)) === 'broken')
    return 'its bytes do not match its seal, index.sum';
  const database = openCacheFile(store, driver, INDEX);
  if (database === null) return null;
  try {
    const problem = findIntegrityProblem(database);
    if (problem !== null) return problem;
    updateIndex(store, database);
    return compareRows(store, database, intact);
  } finally {
    database.close();
  }
}

function findIntegrityProblem(database: SqlDatabase): string | null {
  const verdict = textIn(database.prepare('PRAGMA integrity_check(1)').get(), 'integrity_check');
  return verdict === 'ok' ? null : verdict;
}

function isKept(store: Store, id: string): boolean {
  return isHandoverId(id) && hasHandover(store, id);
}

function compareRows(store: Store, database: SqlDatabase, intact: IntactHandovers): string | null {
  const listed = database.prepare('SELECT id FROM handovers').all();
  // What was saved since the files were looked at is in the index by now.
  const stray = listed.map((row) => textIn(row, 'id')).find((id) => !intact.has(id) && !isKept(store, id));
  if (stray !== undefined) return `it lists ${JSON.stringify(stray)}, which is not there`;
  const findRow = database.prepare(`SELECT ${COLUMNS.join(', ')} FROM handovers WHERE id = ?`);
  const findText = database.prepare('SELECT body FROM texts WHERE id = ?');
  for (const id of intact.keys()) {
    const handover = readHandover(store, id);
    if (handover === null) continue;
    const expected = makeIndexRow(handover);
    const row = findRow.get(id);
    if (!isIndexRow(row) || row.mark !== expected.mark) return `its row for ${id} is wrong`;
    if (textIn(findText.get(id), 'body') !== foldSearchText(handover)) return `its text for ${id} is wrong`;
  }
  return null;
}
