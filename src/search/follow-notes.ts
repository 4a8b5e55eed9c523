import { numberIn } from '../platform/cache-database.ts';
import type { SqlDatabase } from '../platform/sqlite.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import type { Store } from '../store/store.ts';
import type { TextKeeper } from './follow-handovers.ts';
import { type NotesPlace, readPieces, timeOfNotes } from './notes.ts';
import { findNotesNews, tagOfNotes } from './search-freshness.ts';
import { FIRST_OF_NOTES } from './search-schema.ts';

/** Takes in notes that changed, without secrets. To be called in a transaction. */
export function followNotes(
  store: Store,
  database: SqlDatabase,
  { place, texts }: { place: NotesPlace; texts: TextKeeper },
): void {
  const { changed, gone } = findNotesNews(store, database, place);
  if (changed.length === 0 && gone.length === 0) return;
  const find = database.prepare('SELECT first, texts FROM notes WHERE path = ?');
  const remove = database.prepare('DELETE FROM notes WHERE path = ?');
  const add = database.prepare(
    'INSERT INTO notes (path, folder, state, first, texts, at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const tags = [tagOfNotes(place.folder)];
  for (const path of [...gone, ...changed.map((file) => file.path)]) {
    const row = find.get(path);
    if (row === undefined || row === null) continue;
    texts.remove({ first: numberIn(row, 'first'), texts: numberIn(row, 'texts') }, () => tags);
    remove.run(path);
  }
  const redactor = openRedactor(store.machine, { folder: place.folder, makesKey: false });
  for (const file of changed) {
    const pieces = readPieces(file);
    const first = nextNumber(database);
    for (const [at, { text, line }] of pieces.entries())
      texts.add({ n: first + at, text: redactor.redactText(text), fact: null, line }, tags);
    add.run(file.path, place.folder, file.state, first, pieces.length, timeOfNotes(file));
  }
}

function nextNumber(database: SqlDatabase): number {
  const end = numberIn(database.prepare('SELECT max(first + texts) AS end FROM notes').get(), 'end');
  return Number.isNaN(end) ? FIRST_OF_NOTES : Math.max(end, FIRST_OF_NOTES);
}
