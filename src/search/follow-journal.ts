import { basename } from 'node:path';
import type { Mark, Marks } from '../handover/marks.ts';
import { describeFileState, measureRegularFile, readFileFrom } from '../platform/durable-file.ts';
import type { SqlDatabase } from '../platform/sql.ts';
import { numberIn, textIn } from '../store/cache-database.ts';
import { listJournalFiles, pickEntries } from '../store/journal.ts';
import { MARKS } from '../store/marks.ts';
import type { Store } from '../store/store.ts';

interface JournalState {
  path: string;
  name: string;
  state: string;
  size: number;
  /** How far it was read. */
  read: number;
}

/** The journal's files that have changed since they were read. Costs one stat a month. */
export function findChangedJournals(store: Store, database: SqlDatabase): JournalState[] {
  const known = new Map(
    database
      .prepare('SELECT name, state, read FROM journals')
      .all()
      .map((row) => [textIn(row, 'name'), { state: textIn(row, 'state'), read: numberIn(row, 'read') }]),
  );
  return listJournalFiles(store).flatMap((path) => {
    const name = basename(path);
    const state = describeFileState(path) ?? '';
    const before = known.get(name);
    if (before?.state === state) return [];
    return [{ path, name, state, size: measureRegularFile(path) ?? 0, read: before?.read ?? 0 }];
  });
}

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

/** What was said of the facts of a project, without what holds them. */
export function readKeptMarks(database: SqlDatabase, project: string): Marks {
  const marks = new Map<string, Mark>();
  const rows = database.prepare('SELECT fact, mark, at, because FROM marks WHERE project = ?').all(project);
  for (const row of rows) {
    const mark = MARKS.find((known) => known === textIn(row, 'mark'));
    const because = textIn(row, 'because');
    if (mark !== undefined)
      marks.set(textIn(row, 'fact'), {
        mark,
        at: textIn(row, 'at'),
        because: because === '' ? null : because,
        held: null,
      });
  }
  return marks;
}
