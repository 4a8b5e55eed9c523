import { numberIn, textIn } from '../platform/cache-database.ts';
import { readFolderState } from '../platform/folders.ts';
import type { SqlDatabase } from '../platform/sqlite.ts';
import { listMonths } from './months.ts';
import { folderOfMonth, type Month, type Store } from './store.ts';

export interface ChangedMonth {
  month: Month;
  /** Taken before the names are read: what changes in between is seen next time. */
  state: string | null;
}

/** The months whose folders are not, or not certainly, as the index last saw them. Costs one stat a month. */
export function findChangedMonths(store: Store, database: SqlDatabase): ChangedMonth[] {
  const known = readKnownMonths(database);
  const present = listMonths(store).map((month) => ({
    month,
    state: readFolderState(folderOfMonth(store, month)),
  }));
  const names = new Set(present.map(({ month }) => month.join('/')));
  const vanished = [...known.keys()]
    .filter((name) => !names.has(name))
    .map((name) => ({ month: splitMonth(name), state: null }));
  return [
    ...present.filter(({ month, state }) => state === null || known.get(month.join('/')) !== state),
    ...vanished,
  ];
}

function readKnownMonths(database: SqlDatabase): Map<string, string> {
  const rows = database.prepare('SELECT month, state FROM months').all();
  return new Map(rows.map((row) => [textIn(row, 'month'), textIn(row, 'state')]));
}

function splitMonth(name: string): Month {
  const [year = '', month = ''] = name.split('/');
  return [year, month];
}

/**
 * Whether the index lists as many handovers as it took in. Rot in the structure of a page can hide rows, which no check of
 * the rows that are left would show. Lists go by `newest`, so it is `newest` that is counted; a plain count would take
 * whichever index is smallest. Counting takes a moment in a large index, so it is done in small ones.
 */
export function isComplete(database: SqlDatabase): boolean {
  const row = database
    .prepare(
      `SELECT (SELECT coalesce(sum(1), 0) FROM handovers INDEXED BY newest) + (SELECT count(*) FROM damaged) AS listed,
              (SELECT coalesce(sum(files), 0) FROM months) AS files`,
    )
    .get();
  return numberIn(row, 'listed') === numberIn(row, 'files');
}
