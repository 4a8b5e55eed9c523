import { basename } from 'node:path';
import { numberIn, textIn } from '../platform/cache-database.ts';
import { describeFileState, measureRegularFile } from '../platform/durable-file.ts';
import type { SqlDatabase } from '../platform/sqlite.ts';
import { findChangedMonths } from '../store/index-schema.ts';
import { listJournalFiles, type Store } from '../store/store.ts';
import { makeTag } from './full-text.ts';
import { listNotesFiles, type NotesFile, type NotesPlace } from './notes.ts';

/** Whether the files have something that the index has not. Costs a few stats; nothing is read. */
export function isBehind(store: Store, database: SqlDatabase, notes: NotesPlace | null): boolean {
  return findChangedMonths(store, database).length > 0 || isBehindOthers(store, database, notes);
}

/** The same of all but handovers. */
export function isBehindOthers(store: Store, database: SqlDatabase, notes: NotesPlace | null): boolean {
  if (findChangedJournals(store, database).length > 0) return true;
  if (notes === null) return false;
  const { changed, gone } = findNotesNews(store, database, notes);
  return changed.length > 0 || gone.length > 0;
}

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

export interface NotesNews {
  changed: NotesFile[];
  /** Paths of files that are gone. */
  gone: string[];
}

/** How the notes of a place differ from what is known of them. Costs one stat a file. */
export function findNotesNews(store: Store, database: SqlDatabase, place: NotesPlace): NotesNews {
  const known = new Map(
    database
      .prepare('SELECT path, state FROM notes WHERE folder = ?')
      .all(place.folder)
      .map((row) => [textIn(row, 'path'), textIn(row, 'state')]),
  );
  const files = listNotesFiles(place, store.machine);
  const present = new Set(files.map(({ path }) => path));
  return {
    changed: files.filter(({ path, state }) => known.get(path) !== state),
    gone: [...known.keys()].filter((path) => !present.has(path)),
  };
}

export function tagOfNotes(folder: string): string {
  return makeTag('f', folder);
}
