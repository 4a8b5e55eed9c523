import { HandoverError } from '../errors.ts';
import { MARKS } from '../handover/marks.ts';
import type { Handover } from '../model/handover.ts';
import { numberIn } from '../platform/cache-database.ts';
import { changeCache, rebuildCache, withCacheLock } from '../platform/cache-writer.ts';
import { readFileFrom } from '../platform/durable-file.ts';
import type { SqlDatabase, SqlDriver } from '../platform/sqlite.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { readHandover } from '../store/handovers.ts';
import { findNews, followMonths, type Progress } from '../store/index-sync.ts';
import { pickEntries } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import { tagsOf, tagsOfFact } from './finder.ts';
import { type FullText, fillFullText, openFullText } from './full-text.ts';
import { type NotesPlace, readPieces, timeOfNotes } from './notes.ts';
import { describeFact, describeHandover, textOfHandover } from './scan-finder.ts';
import {
  CREATE_INDEXES,
  CREATE_TABLES,
  FIRST_OF_NOTES,
  findChangedJournals,
  findNotesNews,
  HANDOVER_COLUMNS,
  isBehindOthers,
  numberOfTime,
  prepareAddText,
  readHandoverRow,
  readTextRow,
  SEARCH_INDEX,
  TEXT_COLUMNS,
  type TextRow,
  tagOfNotes,
  valuesOfHandover,
} from './search-index.ts';

/** Takes texts into the tables and out of them. */
export interface TextWriter {
  add(row: TextRow, tags: readonly string[]): void;
  /** All texts with these numbers. */
  remove(place: { first: number; texts: number }, tagsOfRow: (row: TextRow) => readonly string[]): void;
}

export function openTextWriter(database: SqlDatabase, fullText: FullText): TextWriter {
  const addRow = prepareAddText(database);
  const find = database.prepare(`SELECT ${TEXT_COLUMNS} FROM texts WHERE n BETWEEN ? AND ? ORDER BY n`);
  const removeRows = database.prepare('DELETE FROM texts WHERE n BETWEEN ? AND ?');
  return {
    add: (row, tags) => {
      addRow(row);
      fullText.add({ n: row.n, text: row.text, tags });
    },
    remove: ({ first, texts }, tagsOfRow) => {
      const last = first + texts - 1;
      const rows = find.all(first, last).map(readTextRow);
      removeRows.run(first, last);
      fullText.remove(rows.map((row) => ({ n: row.n, text: row.text, tags: tagsOfRow(row) })));
    },
  };
}

export interface HandoverWriter {
  add(id: string): void;
  remove(id: string): void;
}

export function openHandoverWriter(store: Store, database: SqlDatabase, texts: TextWriter): HandoverWriter {
  const addHandover = database.prepare(
    `INSERT INTO handovers (${HANDOVER_COLUMNS}) VALUES (${HANDOVER_COLUMNS.replace(/\w+/g, '?')})`,
  );
  const findHandover = database.prepare(`SELECT ${HANDOVER_COLUMNS} FROM handovers WHERE id = ?`);
  const removeHandover = database.prepare('DELETE FROM handovers WHERE id = ?');
  const addDamaged = database.prepare('INSERT OR REPLACE INTO damaged (id, reason) VALUES (?, ?)');
  const removeDamaged = database.prepare('DELETE FROM damaged WHERE id = ?');
  const room = openRoom(database);
  return {
    add: (id) => {
      const handover = readOrReason(store, id);
      if (handover === null) return;
      if (typeof handover === 'string') {
        addDamaged.run(id, handover);
        return;
      }
      const described = describeHandover(handover);
      const rows = listTexts(handover);
      const first = room.find(numberOfTime(Date.parse(handover.created_at)), rows.length);
      addHandover.run(...valuesOfHandover(described, { first, texts: rows.length }));
      const tags = tagsOf(described, null);
      for (const [at, row] of rows.entries())
        texts.add({ ...row, n: first + at }, row.fact === null ? tags : [...tags, ...tagsOfFact(row.fact)]);
    },
    remove: (id) => {
      removeDamaged.run(id);
      const row = findHandover.get(id);
      if (row === undefined || row === null) return;
      const { handover, ...place } = readHandoverRow(row);
      texts.remove(place, ({ fact }) => tagsOf(handover, fact));
      removeHandover.run(id);
    },
  };
}

/** Finds numbers for the texts of a handover: those of its time, or else the next free ones. */
function openRoom(database: SqlDatabase): { find(wanted: number, count: number): number } {
  const findBefore = database.prepare(
    'SELECT first, texts FROM handovers WHERE first < ? ORDER BY first DESC LIMIT 1',
  );
  /** Where the handover that begins last before a number ends. */
  const endBefore = (number: number): number => {
    const row = findBefore.get(number);
    return numberIn(row, 'first') + numberIn(row, 'texts');
  };
  // All that is added newest first comes behind what is there, and need not look for room.
  let end = endBefore(FIRST_OF_NOTES);
  return {
    find: (wanted, count) => {
      let first = Math.min(wanted, FIRST_OF_NOTES - count);
      if (first < end)
        for (let taken = endBefore(first + count); taken > first; taken = endBefore(first + count))
          first = taken;
      end = Math.max(Number.isNaN(end) ? first : end, first + count);
      return first;
    },
  };
}

function listTexts(handover: Handover): Omit<TextRow, 'n'>[] {
  return [
    { text: textOfHandover(handover), fact: null, line: null },
    ...handover.facts.map((fact) => {
      const described = describeFact(fact);
      return { text: described.text, fact: described, line: described.line };
    }),
  ];
}

/** Null when it is gone, a reason when it is damaged. */
function readOrReason(store: Store, id: string): Handover | string | null {
  try {
    return readHandover(store, id);
  } catch (error) {
    if (!(error instanceof HandoverError)) throw error;
    return error.message;
  }
}

/**
 * Takes in what was said of facts. A journal only grows, so that what was added is all there is to read; one that changed
 * in another way has everything read anew. To be called in a transaction.
 */
export function updateMarks(store: Store, database: SqlDatabase): void {
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

/** Takes in notes that changed, without secrets. To be called in a transaction. */
export function updateNotes(
  store: Store,
  database: SqlDatabase,
  { place, texts }: { place: NotesPlace; texts: TextWriter },
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

export interface UpdateOptions {
  /** The notes to be taken in besides handovers. */
  notes: NotesPlace | null;
  progress?: Progress | undefined;
}

/** Brings an open search index in line with the files, if nobody else did so meanwhile. */
export function updateSearchIndex(
  store: Store,
  database: SqlDatabase,
  { notes, progress }: UpdateOptions,
): void {
  if (!hasNews(store, database, notes)) return;
  withCacheLock(store, SEARCH_INDEX, () => {
    if (!hasNews(store, database, notes)) return;
    changeCache(store, { cache: SEARCH_INDEX, database }, () =>
      updateAll(store, database, { notes, progress, fullText: openFullText(database) }),
    );
  });
}

/** A month that changed a moment ago is compared each time, and is no news by itself. */
function hasNews(store: Store, database: SqlDatabase, notes: NotesPlace | null): boolean {
  return findNews(store, database).length > 0 || isBehindOthers(store, database, notes);
}

export function rebuildSearchIndex(store: Store, driver: SqlDriver, surroundings: UpdateOptions): void {
  rebuildCache(store, { cache: SEARCH_INDEX, driver }, (database) => {
    database.exec(CREATE_TABLES);
    fillFullText(database, (fullText) => updateAll(store, database, { ...surroundings, fullText }));
    database.exec(CREATE_INDEXES);
  });
}

function updateAll(
  store: Store,
  database: SqlDatabase,
  { notes, progress, fullText }: UpdateOptions & { fullText: FullText },
): void {
  const texts = openTextWriter(database, fullText);
  const handovers = openHandoverWriter(store, database, texts);
  followMonths(database, findNews(store, database), { ...handovers, progress });
  updateMarks(store, database);
  if (notes !== null) updateNotes(store, database, { place: notes, texts });
}
