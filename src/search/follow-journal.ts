import { MARKS } from '../handover/marks.ts';
import { readFileFrom } from '../platform/durable-file.ts';
import type { SqlDatabase } from '../platform/sqlite.ts';
import { pickEntries } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import { findChangedJournals } from './search-freshness.ts';

/**
 * Takes in what was said of facts. A journal only grows, so that what was added is all there is to read; one that changed
 * in another way has everything read anew. To be called in a transaction.
 */
export function followJournal(store: Store, database: SqlDatabase): void {
  let changed = findChangedJournals(store, database);
  if (changed.some(({ size, read }) => read > 0 && size <= read)) {
    for (const table of ['journals', 'marks']) database.prepare(`DELETE FROM ${table}`).run();
    changed = findChangedJournals(store, database);
  }
  const setMark = database.prepare(
    `INSERT INTO marks (project, fact, mark, at, because, journal) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET mark = excluded.mark, at = excluded.at, because = excluded.because,
       journal = excluded.journal
     WHERE excluded.journal >= marks.journal`,
  );
  const setJournal = database.prepare('INSERT OR REPLACE INTO journals (name, state, read) VALUES (?, ?, ?)');
  for (const { path, name, state, read } of changed) {
    const picked = pickEntries(readFileFrom(path, read), MARKS);
    for (const { event, fact, at, reason, detail } of picked.entries)
      if (fact !== undefined) setMark.run(String(detail?.project), fact, event, at, reason ?? null, name);
    setJournal.run(name, state, read + picked.read);
  }
}
