import { HandoverError } from '../errors.ts';
import type { SqlDatabase, SqlStatement } from '../platform/sql.ts';
import { endOfPrefix, foldSearchText } from './catalog.ts';
import { readHandover } from './handovers.ts';
import { findChangedMonths } from './index-freshness.ts';
import { COLUMNS, makeIndexRow, numberIn, textIn, valuesOf } from './index-schema.ts';
import { listIds } from './months.ts';
import type { Month, Store } from './store.ts';

/** What following the files changed in an index. */
export interface Followed {
  added: number;
  removed: number;
}

export type Progress = (done: number, total: number) => void;

/** Brings the index in line with the files. To be called in a transaction. */
export function followFiles(store: Store, database: SqlDatabase, progress?: Progress): Followed {
  const statements = prepareStatements(database);
  const plans = findChangedMonths(store, database).map((changed) => ({
    ...changed,
    ...compareMonth(store, database, changed.month),
  }));
  const total = plans.reduce((sum, plan) => sum + plan.added.length, 0);
  const followed: Followed = { added: 0, removed: 0 };
  for (const plan of plans) {
    for (const id of plan.removed) removeRow(statements, id);
    followed.removed += plan.removed.length;
    for (const id of plan.added) {
      addRow(store, statements, id);
      progress?.(++followed.added, total);
    }
    statements.setMonth.run(plan.month.join('/'), plan.state);
  }
  return followed;
}

interface Difference {
  added: string[];
  removed: string[];
}

/**
 * Almost always the only news is ids later than all known ones: then counting proves that nothing else changed, and
 * the month need not be compared name by name.
 */
function compareMonth(store: Store, database: SqlDatabase, month: Month): Difference {
  const present = listIds(store, month);
  const prefix = month.join('');
  const { count, last } = countKnown(database, prefix);
  const added = present.filter((id) => id > last);
  if (count + added.length === present.length) return { added, removed: [] };
  const known = new Set(readKnownIds(database, prefix));
  const presentSet = new Set(present);
  return {
    added: present.filter((id) => !known.has(id)),
    removed: [...known].filter((id) => !presentSet.has(id)),
  };
}

const KNOWN_IDS = `
  SELECT id FROM handovers WHERE id >= ?1 AND id < ?2 UNION ALL SELECT id FROM damaged WHERE id >= ?1 AND id < ?2`;

function countKnown(database: SqlDatabase, prefix: string): { count: number; last: string } {
  const row = database
    .prepare(`SELECT count(*) AS count, coalesce(max(id), '') AS last FROM (${KNOWN_IDS})`)
    .get(prefix, endOfPrefix(prefix));
  return { count: numberIn(row, 'count'), last: textIn(row, 'last') };
}

function readKnownIds(database: SqlDatabase, prefix: string): string[] {
  return database
    .prepare(KNOWN_IDS)
    .all(prefix, endOfPrefix(prefix))
    .map((row) => textIn(row, 'id'));
}

interface Statements {
  addRow: SqlStatement;
  addText: SqlStatement;
  addDamaged: SqlStatement;
  removeRow: SqlStatement;
  removeText: SqlStatement;
  removeDamaged: SqlStatement;
  setMonth: SqlStatement;
}

function prepareStatements(database: SqlDatabase): Statements {
  const places = COLUMNS.map(() => '?').join(', ');
  return {
    addRow: database.prepare(`INSERT OR REPLACE INTO handovers (${COLUMNS.join(', ')}) VALUES (${places})`),
    addText: database.prepare('INSERT OR REPLACE INTO texts (id, body) VALUES (?, ?)'),
    addDamaged: database.prepare('INSERT OR REPLACE INTO damaged (id, reason) VALUES (?, ?)'),
    removeRow: database.prepare('DELETE FROM handovers WHERE id = ?'),
    removeText: database.prepare('DELETE FROM texts WHERE id = ?'),
    removeDamaged: database.prepare('DELETE FROM damaged WHERE id = ?'),
    setMonth: database.prepare('INSERT OR REPLACE INTO months (month, state) VALUES (?, ?)'),
  };
}

function addRow(store: Store, statements: Statements, id: string): void {
  try {
    const handover = readHandover(store, id);
    if (handover === null) return;
    statements.addRow.run(...valuesOf(makeIndexRow(handover)));
    statements.addText.run(id, foldSearchText(handover));
    statements.removeDamaged.run(id);
  } catch (error) {
    if (!(error instanceof HandoverError)) throw error;
    statements.addDamaged.run(id, error.message);
  }
}

function removeRow(statements: Statements, id: string): void {
  statements.removeRow.run(id);
  statements.removeText.run(id);
  statements.removeDamaged.run(id);
}
