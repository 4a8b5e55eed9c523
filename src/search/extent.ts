import type { SqlDatabase } from '../platform/sql.ts';
import { numberIn } from '../store/cache-database.ts';
import type { Extent } from './retrieve.ts';

const COUNTED_HANDOVERS = 200;

/** Of the texts of handovers: about as many as the newest have on average. */
export function measureExtent(database: SqlDatabase): Extent {
  const counted = database
    .prepare(
      `SELECT count(*) AS handovers, coalesce(sum(texts), 0) AS texts,
         (SELECT coalesce(sum(files), 0) FROM months) AS files
       FROM (SELECT texts FROM handovers ORDER BY first LIMIT ${COUNTED_HANDOVERS})`,
    )
    .get();
  const [handovers, texts] = [numberIn(counted, 'handovers'), numberIn(counted, 'texts')];
  const all = handovers < COUNTED_HANDOVERS ? texts : (texts / handovers) * numberIn(counted, 'files');
  const ends = database
    .prepare('SELECT min(first) AS low, (SELECT max(first) FROM handovers) AS high FROM handovers')
    .get();
  return { total: Math.max(1, all), from: numberIn(ends, 'low') || 0, to: numberIn(ends, 'high') || 0 };
}
