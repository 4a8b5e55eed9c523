import { catchIf } from '../../errors.ts';
import type { Event } from '../../model/event.ts';
import { type FileHead, readHead } from '../../platform/external-file.ts';
import {
  isDatabaseHead,
  loadSqlDriver,
  openForeignDatabase,
  readSqlErrorCode,
  type SqlDatabase,
} from '../../platform/sqlite.ts';
import type { FoundSession, ReadStats } from '../agent.ts';
import { asRow, type Row, toRows } from './json.ts';

export function isDatabase(path: string): boolean {
  const head = readHead(path, 16);
  return head !== null && isDatabaseHead(head.bytes);
}

/** Null when there is no such database, or no driver to read it with. */
function openDatabase(path: string, driverName?: string): SqlDatabase | null {
  const driver = loadSqlDriver(driverName);
  return driver === null ? null : openForeignDatabase(driver, path);
}

/** Null when a call failed for a reason of SQLite's: of a damaged database, whatever is readable is used. */
export function tryQuery<T>(query: () => T): T | null {
  return catchIf((error) => readSqlErrorCode(error) !== null, null, query);
}

export interface Table {
  name: string;
  /** What each column holds. Numbers are read as floating point: drivers reject integers above 2^53. */
  columns: Readonly<Record<string, 'text' | 'number'>>;
}

/** `SELECT … FROM …`; null without the table. Columns come and go between releases: a missing one reads as null. */
export function selectFrom(database: SqlDatabase, { name, columns }: Table): string | null {
  const found = database.prepare('SELECT CAST(name AS TEXT) AS name FROM pragma_table_info(?)').all(name);
  const present = new Set(found.map((row) => asRow(row)?.name));
  if (present.size === 0) return null;
  const list = Object.entries(columns).map(([column, kind]) => {
    if (!present.has(column)) return `NULL AS "${column}"`;
    return `CAST("${column}" AS ${kind === 'text' ? 'TEXT' : 'REAL'}) AS "${column}"`;
  });
  return `SELECT ${list.join(', ')} FROM "${name}"`;
}

/** The table of an agent's database that has one row per session, under the key `id`. */
export interface SessionTable extends Table {
  /** Without these tables the database is not this agent's. */
  otherTables: readonly string[];
  /** `file.size` is that of the database: the share of one session is not known without reading it. */
  toSession(row: Row, path: string, file: FileHead): FoundSession | null;
}

/** The sessions in a database; none when it cannot be opened or is not this agent's. `driverName` as in `loadSqlDriver`. */
export function listDatabaseSessions(path: string, table: SessionTable, driverName?: string): FoundSession[] {
  const file = readHead(path, 0);
  const database = file === null ? null : openDatabase(path, driverName);
  if (file === null || database === null) return [];
  try {
    const rows = tryQuery(() => {
      const select = selectFrom(database, table);
      const isComplete = table.otherTables.every((name) => selectFrom(database, { name, columns: {} }) !== null);
      return select === null || !isComplete ? [] : toRows(database.prepare(select).all());
    });
    return (rows ?? []).flatMap((row) => table.toSession(row, path, file) ?? []);
  } finally {
    database.close();
  }
}

/** The session that changed last; a sub-agent's only when there is no other. */
export function pickNewest(sessions: readonly FoundSession[]): FoundSession | null {
  const own = sessions.filter(({ parent }) => parent === null);
  const [first = null, ...others] = own.length > 0 ? own : sessions;
  let newest = first;
  for (const session of others) if (newest !== null && session.changedMs > newest.changedMs) newest = session;
  return newest;
}

/** Opens the database of a session and reads it, starting from its row in the table of sessions. */
export function* readDatabaseSession(
  { session: { path, id }, table, stats }: { session: FoundSession; table: Table; stats: ReadStats },
  read: (row: Row, database: SqlDatabase) => Iterable<Event>,
): Generator<Event> {
  const database = openDatabase(path);
  if (database === null) {
    stats.unreadable++;
    return;
  }
  try {
    const row = tryQuery(() => {
      const select = selectFrom(database, table);
      return select === null ? null : asRow(database.prepare(`${select} WHERE id = ?`).get(id));
    });
    if (row === null) stats.unreadable++;
    else yield* read(row, database);
  } finally {
    database.close();
  }
}
