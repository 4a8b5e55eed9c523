import { changeCache, rebuildCache, withCacheLock } from '../platform/cache-writer.ts';
import type { SqlDatabase, SqlDriver } from '../platform/sqlite.ts';
import { findMonthChanges, followMonths, type Progress } from '../store/index-writer.ts';
import type { Store } from '../store/store.ts';
import { openHandoverKeeper, openTextKeeper } from './follow-handovers.ts';
import { followJournal } from './follow-journal.ts';
import { followNotes } from './follow-notes.ts';
import { type FullText, fillFullText, openFullText } from './full-text.ts';
import type { NotesPlace } from './notes.ts';
import { isBehindOthers } from './search-freshness.ts';
import { CREATE_INDEXES, CREATE_TABLES, SEARCH } from './search-schema.ts';

export interface Surroundings {
  /** The notes to be taken in besides handovers. */
  notes: NotesPlace | null;
  progress?: Progress | undefined;
}

/** Brings an open search index in line with the files, if nobody else did so meanwhile. */
export function updateSearchIndex(
  store: Store,
  database: SqlDatabase,
  { notes, progress }: Surroundings,
): void {
  if (!hasNews(store, database, notes)) return;
  withCacheLock(store, SEARCH, () => {
    if (!hasNews(store, database, notes)) return;
    changeCache(store, { cache: SEARCH, database }, () =>
      followAll(store, database, { notes, progress, fullText: openFullText(database) }),
    );
  });
}

/** A month that changed a moment ago is compared each time, and is no news by itself. */
function hasNews(store: Store, database: SqlDatabase, notes: NotesPlace | null): boolean {
  return findMonthChanges(store, database).length > 0 || isBehindOthers(store, database, notes);
}

export function rebuildSearchIndex(store: Store, driver: SqlDriver, surroundings: Surroundings): void {
  rebuildCache(store, { cache: SEARCH, driver }, (database) => {
    database.exec(CREATE_TABLES);
    fillFullText(database, (fullText) => followAll(store, database, { ...surroundings, fullText }));
    database.exec(CREATE_INDEXES);
  });
}

function followAll(
  store: Store,
  database: SqlDatabase,
  { notes, progress, fullText }: Surroundings & { fullText: FullText },
): void {
  const texts = openTextKeeper(database, fullText);
  const handovers = openHandoverKeeper(store, database, texts);
  followMonths(database, findMonthChanges(store, database), { ...handovers, progress });
  followJournal(store, database);
  if (notes !== null) followNotes(store, database, { place: notes, texts });
}
