import type { CatalogRow } from './catalog.ts';

/** When the work of a handover was done. One whose session ended before it was captured is as old as the session. */
export function timeOfWork({ last_at, created_at }: Pick<CatalogRow, 'last_at' | 'created_at'>): string {
  return last_at === null || last_at > created_at ? created_at : last_at;
}

/**
 * Rows that come newest first by when they were captured, newest first by when the work was done. No work is newer than
 * its capture, so that only few rows are read ahead.
 */
export async function* sortByWork(rows: AsyncIterable<CatalogRow>): AsyncIterable<CatalogRow> {
  const waiting: CatalogRow[] = [];
  for await (const row of rows) {
    for (let next = waiting.at(-1); next !== undefined && timeOfWork(next) >= row.created_at; next = waiting.at(-1)) {
      waiting.pop();
      yield next;
    }
    waiting.splice(findPlace(waiting, row), 0, row);
  }
  yield* waiting.reverse();
}

/** Where a row belongs among rows that have the newest last. Of rows of the same time, the one captured last is newest. */
function findPlace(waiting: readonly CatalogRow[], row: CatalogRow): number {
  const time = timeOfWork(row);
  let [low, high] = [0, waiting.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = waiting[middle];
    if (other !== undefined && timeOfWork(other) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
