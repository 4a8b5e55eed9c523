import type { FileHead } from '../../platform/external-file.ts';
import type { SqlDatabase, SqlStatement } from '../../platform/sqlite.ts';
import type { FoundSession, Reading } from '../agent.ts';
import { type Columns, hasTables, selectFrom, tryQuery } from '../database.ts';
import { asRow, getNumber, getText, parseRow, type Row, toRows } from '../json.ts';
import { type Conversation, type Message, type Part, readRevert } from './messages.ts';

const SESSION: Columns = {
  id: 'text',
  parent_id: 'text',
  directory: 'text',
  title: 'text',
  version: 'text',
  revert: 'text',
  time_created: 'number',
  time_updated: 'number',
};
const CONTENT: Columns = { id: 'text', data: 'text' };

export function isOpenCodeDatabase(database: SqlDatabase): boolean {
  return tryQuery(() => hasTables(database, 'session', 'message', 'part')) ?? false;
}

/** `bytes` is that of the database: what a session takes of it cannot be had without reading it. */
export function listSessions(database: SqlDatabase, path: string, file: FileHead): FoundSession[] {
  const rows = tryQuery(() => {
    const select = selectFrom(database, { name: 'session', columns: SESSION });
    return select === null ? [] : toRows(database.prepare(select).all());
  });
  return (rows ?? []).flatMap((row) => toSession(row, path, file) ?? []);
}

function toSession(row: Row, path: string, file: FileHead): FoundSession | null {
  const id = getText(row, 'id');
  if (id === null) return null;
  return {
    agent: 'opencode',
    id,
    path,
    cwd: getText(row, 'directory'),
    title: readTitle(getText(row, 'title')),
    startedMs: getNumber(row, 'time_created'),
    changedMs: getNumber(row, 'time_updated') ?? file.changedMs,
    bytes: file.size,
    parent: getText(row, 'parent_id'),
  };
}

/** Until the model has named a session, OpenCode names it after the time it began. */
export function readTitle(title: string | null): string | null {
  return title === null || /^(?:New|Child) session - \d{4}-/.test(title) ? null : title.toWellFormed();
}

/** The conversation of a session; its messages are fetched one by one. Null when the session is not there. */
export function openConversation(database: SqlDatabase, id: string, reading: Reading): Conversation | null {
  const session = tryQuery(() => {
    const select = selectFrom(database, { name: 'session', columns: SESSION });
    return select === null ? null : asRow(database.prepare(`${select} WHERE id = ?`).get(id));
  });
  if (session === null) return null;
  reading.agentVersion = getText(session, 'version');
  const revert = getText(session, 'revert');
  return {
    cwd: getText(session, 'directory'),
    revert: readRevert(revert === null ? null : parseRow(revert)),
    messages: readMessages(database, id, reading),
  };
}

function* readMessages(database: SqlDatabase, id: string, reading: Reading): Generator<Message> {
  const queries = tryQuery(() => prepareQueries(database));
  const ids = queries === null ? null : tryQuery(() => toRows(queries.ids.all(id)));
  if (queries === null || ids === null) {
    reading.unreadable++;
    return;
  }
  for (const row of ids) {
    const messageId = getText(row, 'id') ?? '';
    const message = tryQuery(() => asRow(queries.message.get(messageId)));
    const info = message === null ? null : parseRow(getText(message, 'data') ?? '');
    if (info === null) reading.unreadable++;
    else yield { id: messageId, info, parts: readParts(queries.parts, messageId, reading) };
  }
}

interface Queries {
  ids: SqlStatement;
  message: SqlStatement;
  parts: SqlStatement;
}

function prepareQueries(database: SqlDatabase): Queries {
  const from = (name: string): string =>
    selectFrom(database, { name, columns: CONTENT }) ?? `SELECT * FROM ${name}`;
  return {
    ids: database.prepare(
      'SELECT CAST(id AS TEXT) AS id FROM message WHERE session_id = ? ORDER BY time_created, id',
    ),
    message: database.prepare(`${from('message')} WHERE id = ?`),
    parts: database.prepare(`${from('part')} WHERE message_id = ? ORDER BY id`),
  };
}

function* readParts(query: SqlStatement, messageId: string, reading: Reading): Generator<Part> {
  const rows = tryQuery(() => toRows(query.all(messageId)));
  if (rows === null) reading.unreadable++;
  for (const row of rows ?? []) {
    const data = parseRow(getText(row, 'data') ?? '');
    if (data === null) reading.unreadable++;
    else yield { id: getText(row, 'id') ?? '', data };
  }
}
