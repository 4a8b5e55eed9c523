import type { SqlDatabase, SqlDriver } from '../platform/sql.ts';
import { assertSealed, changeCache, rebuildCache, withCacheLock } from '../store/cache-writer.ts';
import { findNews, followMonths, type Progress } from '../store/index-sync.ts';
import type { Store } from '../store/store.ts';
import { noteAllStems, openHandoverKeeper, openTextKeeper } from './follow-handovers.ts';
import { findChangedJournals, followJournal } from './follow-journal.ts';
import { findNotesNews, followNotes } from './follow-notes.ts';
import { finishBulk, prepareBulk } from './full-text.ts';
import type { NotesPlace } from './notes.ts';
import { CREATE_FACT_INDEX, CREATE_TABLES, SEARCH } from './search-schema.ts';

export interface Surroundings {
  /** The notes to be taken in besides handovers. */
  notes: NotesPlace | null;
  progress?: Progress | undefined;
}

/** Brings an open search index in line with the files, if it is not. Only then the lock is taken and something is written. */
export function updateSearchIndex(
  store: Store,
  database: SqlDatabase,
  { notes, progress }: Surroundings,
): void {
  assertSealed(store, SEARCH);
  if (!isBehind(store, database, notes)) return;
  withCacheLock(store, SEARCH, () => {
    if (!isBehind(store, database, notes)) return;
    changeCache(store, { cache: SEARCH, database }, () => {
      const texts = openTextKeeper(database, { notesStems: true });
      const handovers = openHandoverKeeper(store, database, texts);
      followMonths(database, findNews(store, database), { ...handovers, progress });
      followJournal(store, database);
      if (notes !== null) followNotes(store, database, { place: notes, texts });
    });
  });
}

function isBehind(store: Store, database: SqlDatabase, notes: NotesPlace | null): boolean {
  if (findNews(store, database).length > 0 || findChangedJournals(store, database).length > 0) return true;
  if (notes === null) return false;
  const { changed, gone } = findNotesNews(store, database, notes);
  return changed.length > 0 || gone.length > 0;
}

export function rebuildSearchIndex(store: Store, driver: SqlDriver, { notes, progress }: Surroundings): void {
  rebuildCache(store, { cache: SEARCH, driver }, (database) => {
    database.exec(CREATE_TABLES);
    prepareBulk(database);
    const texts = openTextKeeper(database, { notesStems: false });
    const handovers = openHandoverKeeper(store, database, texts);
    followMonths(database, findNews(store, database), { ...handovers, progress });
    followJournal(store, database);
    if (notes !== null) followNotes(store, database, { place: notes, texts });
    noteAllStems(database);
    database.exec(CREATE_FACT_INDEX);
    finishBulk(database);
  });
}
