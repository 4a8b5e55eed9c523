import { HandoverError } from '../errors.ts';
import type { Handover } from '../model/handover.ts';
import { numberIn } from '../platform/cache-database.ts';
import type { SqlDatabase } from '../platform/sqlite.ts';
import { readHandover } from '../store/handovers.ts';
import type { Store } from '../store/store.ts';
import { describeFact, describeHandover, textOfHandover } from './describe.ts';
import type { FullText } from './full-text.ts';
import {
  FIRST_OF_NOTES,
  HANDOVER_COLUMNS,
  numberOfTime,
  prepareAddText,
  readHandoverRow,
  readTextRow,
  TEXT_COLUMNS,
  type TextRow,
  valuesOfHandover,
} from './search-schema.ts';
import { tagsOf, tagsOfFact } from './searched.ts';

/** Takes texts into the tables and out of them. */
export interface TextKeeper {
  add(row: TextRow, tags: readonly string[]): void;
  /** All texts with these numbers. */
  remove(place: { first: number; texts: number }, tagsOfRow: (row: TextRow) => readonly string[]): void;
}

export function openTextKeeper(database: SqlDatabase, fullText: FullText): TextKeeper {
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

export interface HandoverKeeper {
  add(id: string): void;
  remove(id: string): void;
}

export function openHandoverKeeper(store: Store, database: SqlDatabase, texts: TextKeeper): HandoverKeeper {
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
