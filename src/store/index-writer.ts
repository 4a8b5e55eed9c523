import { HandoverError } from '../errors.ts';
import { checkCacheSeal, type SealState, textIn } from '../platform/cache-database.ts';
import { changeCache, rebuildCache, withCacheLock } from '../platform/cache-writer.ts';
import type { SqlDatabase, SqlDriver, SqlStatement } from '../platform/sqlite.ts';
import { endOfPrefix, foldSearchText } from './catalog.ts';
import { readHandover } from './handovers.ts';
import {
  type ChangedMonth,
  COLUMNS,
  CREATE_TABLES,
  findChangedMonths,
  INDEX,
  type IndexRow,
  makeIndexRow,
  valuesOf,
} from './index-schema.ts';
import { listIds, type Month, type Store } from './store.ts';

export type Progress = (done: number, total: number) => void;

/** How a month differs from what the index knows of it. */
export interface MonthChange extends ChangedMonth {
  files: number;
  added: string[];
  removed: string[];
}

/**
 * What the index has to learn. A folder that changed a moment ago is compared each time, and is no news by itself: its
 * state can be noted only when it has settled.
 */
export function findMonthChanges(store: Store, database: SqlDatabase): MonthChange[] {
  return findChangedMonths(store, database)
    .map((changed) => ({ ...changed, ...compareMonth(store, database, changed.month) }))
    .filter(({ added, removed, state }) => added.length > 0 || removed.length > 0 || state !== null);
}

/** Whether any of the news that were wanted is still to be learned. */
export function isOutstanding(wanted: readonly MonthChange[], news: readonly MonthChange[]): boolean {
  const open = new Map(news.map((month) => [month.month.join('/'), month]));
  return wanted.some(({ month, added, removed, state }) => {
    const left = open.get(month.join('/'));
    if (left === undefined) return false;
    if (state !== null && state === left.state) return true;
    const ids = new Set([...left.added, ...left.removed]);
    return [...added, ...removed].some((id) => ids.has(id));
  });
}

/** What the index keeps of a handover's file: null when it is gone, a reason when it is damaged. */
export type IndexEntry = { row: IndexRow; text: string } | { reason: string } | null;

export function extractForIndex(store: Store, id: string): IndexEntry {
  try {
    const handover = readHandover(store, id);
    return handover === null ? null : { row: makeIndexRow(handover), text: foldSearchText(handover) };
  } catch (error) {
    if (!(error instanceof HandoverError)) throw error;
    return { reason: error.message };
  }
}

/** Brings the index in line with the files. To be called in a transaction. */
export function followFiles(
  database: SqlDatabase,
  options: {
    news: readonly MonthChange[];
    extract(id: string): IndexEntry;
    progress?: Progress | undefined;
  },
): void {
  const statements = prepareStatements(database);
  const { news, extract, progress } = options;
  followMonths(database, news, {
    add: (id) => addRow(statements, id, extract(id)),
    remove: (id) => removeRow(statements, id),
    progress,
  });
}

/** Takes in and lets go of handovers as the news say, and notes how their months were seen. */
export function followMonths(
  database: SqlDatabase,
  news: readonly MonthChange[],
  follow: { add(id: string): void; remove(id: string): void; progress?: Progress | undefined },
): void {
  const setMonth = database.prepare('INSERT OR REPLACE INTO months (month, state, files) VALUES (?, ?, ?)');
  const total = news.reduce((sum, month) => sum + month.added.length, 0);
  let done = 0;
  for (const { month, state, files, added, removed } of news) {
    for (const id of removed) follow.remove(id);
    for (const id of added) {
      follow.add(id);
      follow.progress?.(++done, total);
    }
    setMonth.run(month.join('/'), state, files);
  }
}

/** Both lists are sorted, so that one walk over them tells what is only in the one or the other. */
function compareMonth(
  store: Store,
  database: SqlDatabase,
  month: Month,
): Pick<MonthChange, 'files' | 'added' | 'removed'> {
  const present = listIds(store, month);
  const known = readKnownIds(database, month.join(''));
  const added: string[] = [];
  const removed: string[] = [];
  for (let i = 0, j = 0; i < present.length || j < known.length; ) {
    const [here = '', there = ''] = [present[i], known[j]];
    if (here >= there) i++;
    if (here <= there) j++;
    if (here > there) added.push(here);
    if (here < there) removed.push(there);
  }
  return { files: present.length, added, removed };
}

/** As one text, which takes a tenth of the time of as many rows. Newest first, as the folder's ids are. */
const KNOWN_IDS = `
  SELECT coalesce(group_concat(id, ' '), '') AS ids FROM (
    SELECT id FROM handovers WHERE id >= ?1 AND id < ?2
    UNION ALL SELECT id FROM damaged WHERE id >= ?1 AND id < ?2
    ORDER BY id DESC
  )`;

function readKnownIds(database: SqlDatabase, prefix: string): string[] {
  const ids = textIn(database.prepare(KNOWN_IDS).get(prefix, endOfPrefix(prefix)), 'ids');
  return ids === '' ? [] : ids.split(' ');
}

interface Statements {
  addRow: SqlStatement;
  addText: SqlStatement;
  addDamaged: SqlStatement;
  removeRow: SqlStatement;
  removeText: SqlStatement;
  removeDamaged: SqlStatement;
}

function prepareStatements(database: SqlDatabase): Statements {
  const places = COLUMNS.map(() => '?').join(', ');
  return {
    addRow: database.prepare(`INSERT OR REPLACE INTO handovers (${COLUMNS.join(', ')}) VALUES (${places})`),
    addText: database.prepare('INSERT OR REPLACE INTO texts (id, body) VALUES (?, ?)'),
    addDamaged: database.prepare('INSERT OR REPLACE INTO damaged (id, reason) VALUES (?, ?)'),
    removeRow: database.prepare('DELETE FROM handovers WHERE id = ?'),
    removeText: database.prepare('DELETE FROM texts WHERE id = ?'),
    removeDamaged: database.prepare('DELETE FROM damaged WHERE id = ?'),
  };
}

function addRow(statements: Statements, id: string, extract: IndexEntry): void {
  if (extract === null) return;
  if ('reason' in extract) {
    statements.addDamaged.run(id, extract.reason);
    return;
  }
  statements.addRow.run(...valuesOf(extract.row));
  statements.addText.run(id, extract.text);
  statements.removeDamaged.run(id);
}

function removeRow(statements: Statements, id: string): void {
  statements.removeRow.run(id);
  statements.removeText.run(id);
  statements.removeDamaged.run(id);
}

/**
 * Brings an open index in line with the files, if it is not. Only then the lock is taken and something is written; and
 * not even then, if whoever had the lock before wrote all that was found missing.
 */
export function updateIndex(store: Store, database: SqlDatabase): void {
  const wanted = findMonthChanges(store, database);
  if (wanted.length === 0) return;
  const extract = extractAhead(store, wanted);
  withIndexLock(store, () => {
    const news = findMonthChanges(store, database);
    if (!isOutstanding(wanted, news)) return;
    changeCache(store, { cache: INDEX, database }, () => followFiles(database, { news, extract }));
  });
}

const MAX_AHEAD = 5000;

/** Reads what can be read before the lock is taken, so that others wait for the writing alone. */
function extractAhead(store: Store, news: readonly MonthChange[]): (id: string) => IndexEntry {
  const ids = news.flatMap(({ added }) => added).slice(0, MAX_AHEAD);
  const ahead = new Map(ids.map((id) => [id, extractForIndex(store, id)]));
  return (id) => ahead.get(id) ?? extractForIndex(store, id);
}

export function rebuildIndex(store: Store, driver: SqlDriver, progress?: Progress): void {
  rebuildCache(store, { cache: INDEX, driver }, (database) => {
    database.exec(CREATE_TABLES);
    followFiles(database, {
      news: findMonthChanges(store, database),
      extract: (id) => extractForIndex(store, id),
      progress,
    });
  });
}

export function withIndexLock<T>(store: Store, work: () => T): T {
  return withCacheLock(store, INDEX, work);
}

/** To be called under the index lock. */
export function checkIndexSeal(store: Store): SealState {
  return checkCacheSeal(store, INDEX);
}
