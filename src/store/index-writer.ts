import { isHandoverError, rescue } from '../errors.ts';
import { numberIn, textIn } from '../platform/cache-database.ts';
import { changeCache, rebuildCache, withCacheLock } from '../platform/cache-writer.ts';
import { listFolder } from '../platform/folders.ts';
import type { SqlDatabase, SqlDriver } from '../platform/sqlite.ts';
import { describeUnreadable, endOfPrefix, foldSearchText, type UnreadableFile } from './catalog.ts';
import { hasHandover, readHandover } from './handovers.ts';
import * as schema from './index-schema.ts';
import { folderOfMonth, idOfName, type Month, type Store } from './store.ts';

export type Progress = (done: number, total: number) => void;

/** Brings an index in line with the files. Takes the lock only for changes, and writes only what nobody did before. */
export function updateIndex(store: Store, database: SqlDatabase): void {
  const findChanges = rememberMonthChanges(store, database);
  const wanted = findChanges();
  if (wanted.length === 0) return;
  const extract = extractAhead(store, wanted);
  withCacheLock(store, schema.INDEX, () => {
    const changes = findChanges();
    if (isOutstanding(wanted, changes))
      changeCache(store, { cache: schema.INDEX, database }, () => writeRows(database, { changes, extract }));
  });
}

const MAX_AHEAD = 5000;

/** Reads what can be read before the lock is taken, so that others wait for the writing alone. What left since counts as gone. */
function extractAhead(store: Store, changes: readonly MonthChange[]): (id: string) => IndexEntry {
  const ids = changes.flatMap(({ added }) => added).slice(0, MAX_AHEAD);
  const ahead = new Map(ids.map((id) => [id, extractForIndex(store, id)]));
  return (id) => (hasHandover(store, id) ? (ahead.get(id) ?? extractForIndex(store, id)) : null);
}

export function rebuildIndex(store: Store, driver: SqlDriver, progress?: Progress): void {
  rebuildCache(store, { cache: schema.INDEX, driver }, (database) => {
    database.exec(schema.CREATE_TABLES);
    const changes = findMonthChanges(store, database);
    writeRows(database, { changes, extract: (id) => extractForIndex(store, id), progress });
  });
}

export type MonthChange = schema.ChangedMonth & IdChanges;
type IdChanges = { files: number; added: string[]; removed: string[] };

/** What an index has to take in. A folder that has not settled has no state yet: it counts only if its files differ. */
function findMonthChanges(store: Store, database: SqlDatabase): MonthChange[] {
  return schema
    .findChangedMonths(store, database)
    .map((changed) => ({ ...changed, ...compareMonth(store, database, changed.month) }))
    .filter(({ added, removed, state }) => added.length > 0 || removed.length > 0 || state !== null);
}

/** Finds changes for an open index. Asked again, it compares again only what somebody else has written to since. */
export function rememberMonthChanges(store: Store, database: SqlDatabase): () => MonthChange[] {
  let known: { version: number; changes: MonthChange[] } | null = null;
  return () => {
    const version = numberIn(database.prepare('PRAGMA data_version').get(), 'data_version');
    if (known?.version !== version) known = { version, changes: findMonthChanges(store, database) };
    return known.changes;
  };
}

/** Whether any of the changes that were wanted is still to be made. */
function isOutstanding(wanted: readonly MonthChange[], changes: readonly MonthChange[]): boolean {
  const open = new Map(changes.map((change) => [change.month.join('/'), change]));
  return wanted.some(({ month, added, removed, state }) => {
    const left = open.get(month.join('/'));
    if (left === undefined) return false;
    if (state !== null && state === left.state) return true;
    const ids = new Set([...left.added, ...left.removed]);
    return [...added, ...removed].some((id) => ids.has(id));
  });
}

/** Both lists are sorted, so that one walk over them shows what is only in the one or the other. Only new names are looked at. */
function compareMonth(store: Store, database: SqlDatabase, month: Month): IdChanges {
  const prefix = month.join('');
  const present = listFolder(folderOfMonth(store, month)).filter((name) => name.endsWith('.json'));
  const row = database.prepare(KNOWN_NAMES).get(prefix, endOfPrefix(prefix));
  const [known, count] = [textIn(row, 'names'), numberIn(row, 'count')];
  const added: string[] = [];
  const removed: string[] = [];
  let at = 0;
  for (const name of [...present.sort(), AFTER_ALL]) {
    while (at < known.length && !known.startsWith(name, at)) {
      const next = known.slice(at, known.indexOf(' ', at));
      if (next > name) break;
      removed.push(next.slice(0, -'.json'.length));
      at += next.length + 1;
    }
    if (known.startsWith(name, at)) at += name.length + 1;
    else if (idOfName(name)?.startsWith(prefix)) added.push(name.slice(0, -'.json'.length));
  }
  return { files: count - removed.length + added.length, added: added.reverse(), removed };
}

const AFTER_ALL = '~';
/** As one text, which takes a tenth of the time of as many rows, and is not cut up for the walk. */
const KNOWN_NAMES = `
  SELECT coalesce(group_concat(id || '.json ', ''), '') AS names, count(*) AS count FROM (
    SELECT id FROM handovers WHERE id >= ?1 AND id < ?2
    UNION ALL SELECT id FROM damaged WHERE id >= ?1 AND id < ?2 ORDER BY id
  )`;

/** What the index holds of a handover's file: null when it is gone, a reason when it cannot be read. */
type IndexEntry = { row: schema.IndexRow; text: string } | Omit<UnreadableFile, 'path'> | null;

function extractForIndex(store: Store, id: string): IndexEntry {
  return rescue(isHandoverError, describeUnreadable, () => {
    const handover = readHandover(store, id);
    return handover === null ? null : { row: schema.makeIndexRow(handover), text: foldSearchText(handover) };
  });
}

type RowSource = { changes: readonly MonthChange[]; extract(id: string): IndexEntry; progress?: Progress | undefined };

/** Brings the index in line with the files. Call it in a transaction. */
function writeRows(database: SqlDatabase, { changes, extract, progress }: RowSource): void {
  const [names, places] = [schema.COLUMNS.join(', '), schema.COLUMNS.map(() => '?').join(', ')];
  const addRow = database.prepare(`INSERT OR REPLACE INTO handovers (${names}) VALUES (${places})`);
  const addText = database.prepare('INSERT OR REPLACE INTO texts (id, body) VALUES (?, ?)');
  const addDamaged = database.prepare('INSERT OR REPLACE INTO damaged (id, reason, is_newer) VALUES (?, ?, ?)');
  const removals = ['handovers', 'texts', 'damaged'].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE id = ?`),
  );
  const removeDamaged = database.prepare('DELETE FROM damaged WHERE id = ?');
  followMonths(database, changes, {
    add: (id) => {
      const entry = extract(id);
      if (entry === null) return false;
      if ('reason' in entry) {
        addDamaged.run(id, entry.reason, entry.isNewer ? 1 : 0);
        return true;
      }
      addRow.run(...schema.COLUMNS.map((column) => entry.row[column]));
      addText.run(id, entry.text);
      removeDamaged.run(id);
      return true;
    },
    remove: (id) => {
      for (const removal of removals) removal.run(id);
    },
    progress,
  });
}

/**
 * Adds and removes handovers as the changes say, and records the state in which their months were seen. `add` says whether the
 * handover is there: one that was forgotten since the month was listed does not count.
 */
export function followMonths(
  database: SqlDatabase,
  changes: readonly MonthChange[],
  follow: { add(id: string): boolean; remove(id: string): void; progress?: Progress | undefined },
): void {
  const setMonth = database.prepare('INSERT OR REPLACE INTO months (month, state, files) VALUES (?, ?, ?)');
  const total = changes.reduce((sum, { added }) => sum + added.length, 0);
  let done = 0;
  for (const { month, state, files, added, removed } of changes) {
    let gone = 0;
    for (const id of removed) follow.remove(id);
    for (const id of added) {
      if (!follow.add(id)) gone++;
      follow.progress?.(++done, total);
    }
    setMonth.run(month.join('/'), state, files - gone);
  }
}
