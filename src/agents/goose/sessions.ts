import { basename, join } from 'node:path';
import { type FileHead, listNames, readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession } from '../agent.ts';
import { isDatabase, listDatabaseSessions, pickNewest, type SessionTable } from '../shared/database.ts';
import { HEAD_BYTES, inspectAll, listFiles } from '../shared/files.ts';
import { getNumber, getText, parseRow, type Row } from '../shared/json.ts';

const DATABASE_NAME = 'sessions.db';

/** The folder with the database, and with one file per session from releases that had no database. */
function findSessionsFolder({ env, home, platform }: Machine): string | null {
  if (env.GOOSE_PATH_ROOT) return join(env.GOOSE_PATH_ROOT, 'data', 'sessions');
  if (platform === 'win32') {
    const roaming = env.APPDATA ?? (home === undefined ? undefined : join(home, 'AppData', 'Roaming'));
    return roaming === undefined ? null : join(roaming, 'Block', 'goose', 'data', 'sessions');
  }
  if (env.XDG_DATA_HOME) return join(env.XDG_DATA_HOME, 'goose', 'sessions');
  return home === undefined ? null : join(home, '.local', 'share', 'goose', 'sessions');
}

export function* listTranscripts(machine: Machine): Generator<string> {
  const folder = findSessionsFolder(machine);
  if (folder === null) return;
  for (const name of listNames(folder)) if (name === DATABASE_NAME || name.endsWith('.jsonl')) yield join(folder, name);
}

/** The database took over the sessions that were files, and left the files where they were. */
export function* findSessions(machine: Machine): Generator<FoundSession> {
  const folder = findSessionsFolder(machine);
  if (folder === null) return;
  const sessions = listDatabaseSessions(join(folder, DATABASE_NAME), SESSION_TABLE, machine.env.HANDOVER_SQLITE);
  yield* sessions;
  const known = new Set(sessions.map(({ id }) => id));
  for (const session of inspectAll(listFiles(folder, '.jsonl'), inspectJsonLines))
    if (!known.has(session.id)) yield session;
}

export function inspectFile(path: string): FoundSession | null {
  return isDatabase(path) ? pickNewest(listDatabaseSessions(path, SESSION_TABLE)) : inspectJsonLines(path);
}

export const SESSION_TABLE: SessionTable = {
  name: 'sessions',
  columns: {
    id: 'text',
    name: 'text',
    description: 'text',
    session_type: 'text',
    working_dir: 'text',
    created_at: 'text',
    updated_at: 'text',
    model_config_json: 'text',
    parent_session_id: 'text',
  },
  otherTables: ['messages', 'schema_version'],
  toSession,
};

function toSession(row: Row, path: string, file: FileHead): FoundSession | null {
  const id = getText(row, 'id');
  if (id === null) return null;
  const title = getText(row, 'name') || getText(row, 'description');
  return {
    agent: 'goose',
    id,
    path,
    cwd: getText(row, 'working_dir'),
    title: title?.toWellFormed() || null,
    startedMs: parseTime(getText(row, 'created_at')),
    changedMs: parseTime(getText(row, 'updated_at')) ?? file.changedMs,
    bytes: file.size,
    // Copies of a session also name it as their parent. Before schema 14 a sub-agent's session does not name its parent.
    parent: row.session_type === 'sub_agent' ? (getText(row, 'parent_session_id') ?? 'unknown') : null,
  };
}

/** SQLite's own format for times has no zone and means UTC. */
function parseTime(text: string | null): number | null {
  if (text === null) return null;
  const bare = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,9})?)(?: UTC)?$/.exec(text);
  const ms = Date.parse(bare === null ? text : `${bare[1]}T${bare[2]}Z`);
  return Number.isNaN(ms) ? null : ms;
}

/** A session of a release without a database: one line about the session, then one line per message. */
function inspectJsonLines(path: string): FoundSession | null {
  const head = readHead(path, HEAD_BYTES);
  if (head === null || !path.endsWith('.jsonl')) return null;
  const [first = '', second = ''] = head.bytes.toString('utf8').split('\n', 2);
  const header = parseRow(first) ?? {};
  const cwd = getText(header, 'working_dir');
  if (cwd === null) return null;
  const { changedMs, size: bytes } = head;
  const id = basename(path, '.jsonl');
  const title = getText(header, 'description')?.toWellFormed() || null;
  const startedMs = toMilliseconds(getNumber(parseRow(second) ?? {}, 'created'));
  return { agent: 'goose', id, path, cwd, title, startedMs, changedMs, bytes, parent: null };
}

/** Times are seconds in most releases, milliseconds in some. */
export function toMilliseconds(time: number | null): number | null {
  return time !== null && time < 10_000_000_000 ? time * 1000 : time;
}
