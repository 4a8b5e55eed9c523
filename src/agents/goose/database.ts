import type { FileHead } from '../../platform/external-file.ts';
import type { SqlDatabase } from '../../platform/sqlite.ts';
import type { FoundSession, Reading } from '../agent.ts';
import { type Columns, hasTables, selectFrom, tryQuery } from '../database.ts';
import { asRow, EMPTY_ROW, getNumber, getText, parseAny, parseRow, type Row, toRows } from '../json.ts';
import type { Message } from './messages.ts';

const SESSION: Columns = {
  id: 'text',
  name: 'text',
  description: 'text',
  session_type: 'text',
  working_dir: 'text',
  created_at: 'text',
  updated_at: 'text',
  model_config_json: 'text',
  parent_session_id: 'text',
};

const MESSAGE: Columns = {
  message_id: 'text',
  role: 'text',
  content_json: 'text',
  created_timestamp: 'number',
  metadata_json: 'text',
};

export function isGooseDatabase(database: SqlDatabase): boolean {
  return tryQuery(() => hasTables(database, 'sessions', 'messages', 'schema_version')) ?? false;
}

/** `bytes` is that of the database: what a session takes of it cannot be had without reading it. */
export function listSessions(database: SqlDatabase, path: string, file: FileHead): FoundSession[] {
  const rows = tryQuery(() => {
    const select = selectFrom(database, { name: 'sessions', columns: SESSION });
    return select === null ? [] : toRows(database.prepare(select).all());
  });
  return (rows ?? []).flatMap((row) => toSession(row, path, file) ?? []);
}

function toSession(row: Row, path: string, file: FileHead): FoundSession | null {
  const id = getText(row, 'id');
  if (id === null) return null;
  const title = getText(row, 'name') || getText(row, 'description') || null;
  return {
    agent: 'goose',
    id,
    path,
    cwd: getText(row, 'working_dir'),
    title: title === null ? null : title.toWellFormed(),
    startedMs: parseTime(getText(row, 'created_at')),
    changedMs: parseTime(getText(row, 'updated_at')) ?? file.changedMs,
    bytes: file.size,
    parent: readParent(row),
  };
}

/** Copies of a session name it as their parent too. Before schema 14 a sub-agent's session does not tell whose it is. */
function readParent(row: Row): string | null {
  if (getText(row, 'session_type') !== 'sub_agent') return null;
  return getText(row, 'parent_session_id') ?? 'unknown';
}

/** SQLite's own form of times is without a zone and means UTC. */
export function parseTime(text: string | null): number | null {
  if (text === null) return null;
  const bare = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,9})?)(?: UTC)?$/.exec(text);
  const ms = Date.parse(bare === null ? text : `${bare[1]}T${bare[2]}Z`);
  return Number.isNaN(ms) ? null : ms;
}

/** The folder and the model of a session; null when there is no such session. */
export function readSession(
  database: SqlDatabase,
  id: string,
): { cwd: string | null; model: string | null } | null {
  const row = tryQuery(() => {
    const select = selectFrom(database, { name: 'sessions', columns: SESSION });
    return select === null ? null : asRow(database.prepare(`${select} WHERE id = ?`).get(id));
  });
  if (row === null) return null;
  const config = parseRow(getText(row, 'model_config_json') ?? '') ?? EMPTY_ROW;
  return { cwd: getText(row, 'working_dir'), model: getText(config, 'model_name') };
}

/** Fetched one by one: a session can be larger than what one would hold in memory. */
export function* readMessages(database: SqlDatabase, id: string, reading: Reading): Generator<Message> {
  const query = tryQuery(() => {
    const select = selectFrom(database, { name: 'messages', columns: MESSAGE });
    return select === null ? null : database.prepare(`${select} WHERE rowid = ?`);
  });
  const numbers = tryQuery(() =>
    toRows(
      database
        .prepare(
          'SELECT CAST(rowid AS REAL) AS number FROM messages WHERE session_id = ? ORDER BY created_timestamp, rowid',
        )
        .all(id),
    ),
  );
  if (query === null || numbers === null) {
    reading.unreadable++;
    return;
  }
  for (const [index, { number }] of numbers.entries()) {
    reading.rows++;
    const row = tryQuery(() => asRow(query.get(typeof number === 'number' ? number : null)));
    const message = row === null ? null : toMessage(row, index + 1);
    if (message === null) reading.unreadable++;
    else yield message;
  }
}

function toMessage(row: Row, line: number): Message | null {
  const content = parseAny(getText(row, 'content_json') ?? '');
  if (!Array.isArray(content)) return null;
  return {
    line,
    id: getText(row, 'message_id'),
    role: getText(row, 'role') ?? '',
    created: getNumber(row, 'created_timestamp'),
    content,
    metadata: parseRow(getText(row, 'metadata_json') ?? '') ?? EMPTY_ROW,
  };
}
