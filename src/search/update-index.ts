import { isHandoverError, messageOf, rescue } from '../errors.ts';
import { isEnding, MARKS } from '../handover/marks.ts';
import { locateInProject } from '../model/paths.ts';
import { numberIn } from '../platform/cache-database.ts';
import { changeCache, rebuildCache, withCacheLock } from '../platform/cache-writer.ts';
import { readFileFrom } from '../platform/durable-file.ts';
import type { SqlDatabase, SqlDriver } from '../platform/sqlite.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { readHandover } from '../store/handovers.ts';
import { computeMark } from '../store/index-schema.ts';
import { followMonths, type MonthChange, type Progress, rememberMonthChanges } from '../store/index-writer.ts';
import { identifyEntry, pickEntries } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import { isChange, sessionOf, tagsOf, tagsOfFact, timeOf } from './finder.ts';
import { type FullText, fillFullText, openFullText } from './full-text.ts';
import { type NotesPlace, readPieces, tagOfNotes, timeOfNotes } from './notes.ts';
import { describeHandover, listDocuments } from './scan-finder.ts';
import * as index from './search-index.ts';

export type UpdateOptions = { notes: NotesPlace | null; progress?: Progress | undefined };

/** Brings an open search index up to date with the files, unless another process has done so. */
export function updateSearchIndex(store: Store, database: SqlDatabase, options: UpdateOptions): void {
  // A month that changed a moment ago is compared each time; that alone is no reason to write.
  const findChanges = rememberMonthChanges(store, database);
  const hasNews = (): boolean => findChanges().length > 0 || index.isBehindOthers(store, database, options.notes);
  if (!hasNews()) return;
  withCacheLock(store, index.SEARCH_INDEX, () => {
    if (!hasNews()) return;
    changeCache(store, { cache: index.SEARCH_INDEX, database }, () =>
      updateAll(store, openTextWriter(database, openFullText(database)), { ...options, changes: findChanges() }),
    );
  });
}

export function rebuildSearchIndex(store: Store, driver: SqlDriver, options: UpdateOptions): void {
  rebuildCache(store, { cache: index.SEARCH_INDEX, driver }, (database) => {
    database.exec(index.CREATE_TABLES);
    const changes = rememberMonthChanges(store, database)();
    fillFullText(database, (fullText) => updateAll(store, openTextWriter(database, fullText), { ...options, changes }));
    database.exec(index.CREATE_INDEXES);
  });
}

function updateAll(
  store: Store,
  texts: TextWriter,
  { notes, progress, changes }: UpdateOptions & { changes: readonly MonthChange[] },
): void {
  const { database } = texts;
  const writer = openHandoverWriter(store, texts);
  followMonths(database, changes, { ...writer, progress });
  updateMarks(store, database);
  if (notes !== null) updateNotes(store, notes, texts);
}

/** Adds texts to the tables and removes them. */
type TextWriter = ReturnType<typeof openTextWriter>;

function openTextWriter(database: SqlDatabase, fullText: FullText) {
  const insert = index.TEXTS.prepareInsert(database);
  const find = database.prepare(`SELECT ${index.TEXTS.columns} FROM texts WHERE n BETWEEN ? AND ? ORDER BY n`);
  const removeRows = database.prepare('DELETE FROM texts WHERE n BETWEEN ? AND ?');
  return {
    database,
    add: (row: index.TextRow, tags: readonly string[]): void => {
      insert(index.valuesOfText(row));
      fullText.add({ n: row.n, text: row.text, tags });
    },
    remove: (
      { first, texts }: Pick<index.HandoverRow, 'first' | 'texts'>,
      tag: (row: index.TextRow) => readonly string[],
    ) => {
      const last = first + texts - 1;
      const rows = find.all(first, last).map(index.readTextRow);
      removeRows.run(first, last);
      fullText.remove(rows.map((row) => ({ n: row.n, text: row.text, tags: tag(row) })));
    },
  };
}

type HandoverWriter = { add(id: string): boolean; remove(id: string): void };

function openHandoverWriter(store: Store, texts: TextWriter): HandoverWriter {
  const { database } = texts;
  const insert = index.HANDOVERS.prepareInsert(database);
  const find = database.prepare(`SELECT ${index.HANDOVERS.columns} FROM handovers WHERE id = ?`);
  const removeHandover = database.prepare('DELETE FROM handovers WHERE id = ?');
  const addDamaged = database.prepare('INSERT OR REPLACE INTO damaged (id, reason) VALUES (?, ?)');
  const removeDamaged = database.prepare('DELETE FROM damaged WHERE id = ?');
  const findRoom = makeNumberAllocator(database);
  const insertFile = database.prepare(
    'INSERT INTO files (project, path, n, session, changed, at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const removeFile = database.prepare('DELETE FROM files WHERE project = ? AND path = ? AND n = ?');
  const { home } = store.machine;
  const tagFact = (tags: readonly string[], { fact }: Pick<index.TextRow, 'fact'>): readonly string[] =>
    fact === null ? tags : [...tags, ...tagsOfFact(fact)];
  return {
    add: (id) => {
      const source = rescue(isHandoverError, messageOf, () => readHandover(store, id));
      if (source === null) return false;
      if (typeof source === 'string') {
        addDamaged.run(id, source);
        return true;
      }
      const handover = describeHandover(source);
      const documents = listDocuments(source, handover);
      const first = findRoom(index.numberOfTime(Date.parse(source.created_at)), documents.length);
      insert(index.valuesOfHandover({ handover, first, texts: documents.length }));
      const tags = tagsOf(handover);
      for (const [at, document] of documents.entries()) {
        const fact = document.what === 'fact' ? document.fact : null;
        const row = { n: first + at, text: document.text, fact, line: fact?.line ?? null };
        texts.add(row, tagFact(tags, row));
        if (document.what !== 'fact' || !index.isOfFile(document.fact)) continue;
        const [path, session] = [locateInProject(document.fact, handover, home), computeMark([sessionOf(document)])];
        const workedMs = Date.parse(timeOf(document));
        insertFile.run(handover.project.id, path, row.n, session, Number(isChange(document.fact)), workedMs);
      }
      return true;
    },
    remove: (id) => {
      removeDamaged.run(id);
      const row = find.get(id);
      if (row === undefined || row === null) return;
      const { handover, ...place } = index.readHandoverRow(row);
      const tags = tagsOf(handover);
      texts.remove(place, (row) => {
        const { fact, n } = row;
        if (fact !== null && index.isOfFile(fact))
          removeFile.run(handover.project.id, locateInProject(fact, handover, home), n);
        return tagFact(tags, row);
      });
      removeHandover.run(id);
    },
  };
}

/** Finds numbers for the texts of a handover: those of its time, or the next free ones. */
function makeNumberAllocator(database: SqlDatabase): (wanted: number, count: number) => number {
  const findBefore = database.prepare('SELECT first, texts FROM handovers WHERE first < ? ORDER BY first DESC LIMIT 1');
  /** Where the last handover that begins before a number ends. */
  const endBefore = (number: number): number => {
    const row = findBefore.get(number);
    return numberIn(row, 'first') + numberIn(row, 'texts');
  };
  // Handovers that are added newest first come after all others, and need no search for room.
  let end = endBefore(index.FIRST_OF_NOTES);
  return (wanted, count) => {
    let first = Math.min(wanted, index.FIRST_OF_NOTES - count);
    if (first < end)
      for (let taken = endBefore(first + count); taken > first; taken = endBefore(first + count)) first = taken;
    end = Math.max(Number.isNaN(end) ? first : end, first + count);
    return first;
  };
}

/** Reads what was added to the journal. If a file changed in any other way than by growing, all are read again. */
function updateMarks(store: Store, database: SqlDatabase): void {
  let changed = index.findChangedJournals(store, database);
  if (changed.some(({ size, read }) => read > 0 && size <= read)) {
    for (const table of ['journals', 'marks']) database.prepare(`DELETE FROM ${table}`).run();
    changed = index.findChangedJournals(store, database);
  }
  const setMark = database.prepare(
    `INSERT INTO marks (project, fact, mark, at, because, identity, ends) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET mark = excluded.mark, at = excluded.at, because = excluded.because,
       identity = excluded.identity
     WHERE (excluded.at, excluded.identity) >= (marks.at, marks.identity)`,
  );
  const setJournal = database.prepare('INSERT OR REPLACE INTO journals (name, state, read) VALUES (?, ?, ?)');
  for (const { path, name, state, read } of changed) {
    const picked = pickEntries(readFileFrom(path, read), MARKS);
    for (const entry of picked.entries) {
      const { event, fact, at, reason, detail } = entry;
      const ends = Number(isEnding(event));
      if (fact !== undefined)
        setMark.run(String(detail?.project), fact, event, at, reason ?? null, identifyEntry(entry), ends);
    }
    setJournal.run(name, state, read + picked.read);
  }
}

/** Replaces the texts of notes that changed, without secrets. */
function updateNotes(store: Store, place: NotesPlace, texts: TextWriter): void {
  const { database } = texts;
  const { changed, gone } = index.findChangedNotes(store, database, place);
  if (changed.length === 0 && gone.length === 0) return;
  const find = database.prepare('SELECT first, texts FROM notes WHERE path = ?');
  const remove = database.prepare('DELETE FROM notes WHERE path = ?');
  const add = database.prepare('INSERT INTO notes (path, folder, state, first, texts, at) VALUES (?, ?, ?, ?, ?, ?)');
  const tags = [tagOfNotes(place.folder)];
  for (const path of [...gone, ...changed.map((file) => file.path)]) {
    const row = find.get(path);
    if (row === undefined || row === null) continue;
    texts.remove({ first: numberIn(row, 'first'), texts: numberIn(row, 'texts') }, () => tags);
    remove.run(path);
  }
  const redactor = openRedactor(store.machine, { folder: place.folder, makesKey: false });
  for (const file of changed) {
    const pieces = readPieces(file, redactor);
    const end = database.prepare('SELECT max(first + texts) AS end FROM notes').get();
    const first = Math.max(numberIn(end, 'end') || index.FIRST_OF_NOTES, index.FIRST_OF_NOTES);
    for (const [at, { text, line }] of pieces.entries()) texts.add({ n: first + at, text, fact: null, line }, tags);
    add.run(file.path, place.folder, file.state, first, pieces.length, timeOfNotes(file));
  }
}
