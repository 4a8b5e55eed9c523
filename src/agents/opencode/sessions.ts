import { isAbsolute, join } from 'node:path';
import { type FileHead, listNames, readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession } from '../agent.ts';
import { isDatabase, listDatabaseSessions, pickNewest, type SessionTable } from '../shared/database.ts';
import { getNumber, getRow, getText, parseRow, type Row } from '../shared/json.ts';

/** Release channels other than the stable one have a database of their own. */
const DATABASE_NAME = /^opencode(?:-[\w.-]+)?\.db$/;

export function listTranscripts(machine: Machine): string[] {
  const { OPENCODE_DB: named } = machine.env;
  const data = findDataFolder(machine);
  if (named && isAbsolute(named)) return [named];
  if (data === null) return [];
  const names = named ? [named] : listNames(data).filter((name) => DATABASE_NAME.test(name));
  return names.map((name) => join(data, name));
}

/** OpenCode follows the XDG rules on all platforms. */
function findDataFolder({ env, home }: Machine): string | null {
  if (env.XDG_DATA_HOME) return join(env.XDG_DATA_HOME, 'opencode');
  return home === undefined ? null : join(home, '.local', 'share', 'opencode');
}

export function* findSessions(machine: Machine): Generator<FoundSession> {
  for (const path of listTranscripts(machine))
    yield* listDatabaseSessions(path, SESSION_TABLE, machine.env.HANDOVER_SQLITE);
}

export function inspectFile(path: string): FoundSession | null {
  return isDatabase(path) ? pickNewest(listDatabaseSessions(path, SESSION_TABLE)) : inspectExport(path);
}

export const SESSION_TABLE: SessionTable = {
  name: 'session',
  columns: {
    id: 'text',
    parent_id: 'text',
    directory: 'text',
    title: 'text',
    version: 'text',
    revert: 'text',
    time_created: 'number',
    time_updated: 'number',
  },
  otherTables: ['message', 'part'],
  toSession,
};

function toSession(row: Row, path: string, file: FileHead): FoundSession | null {
  const id = getText(row, 'id');
  if (id === null) return null;
  const title = getText(row, 'title');
  return {
    agent: 'opencode',
    id,
    path,
    cwd: getText(row, 'directory'),
    // Until the model has named a session, OpenCode names it after the time it began.
    title: title === null || /^(?:New|Child) session - \d{4}-/.test(title) ? null : title.toWellFormed(),
    startedMs: getNumber(row, 'time_created'),
    changedMs: getNumber(row, 'time_updated') ?? file.changedMs,
    bytes: file.size,
    parent: getText(row, 'parent_id'),
  };
}

function inspectExport(path: string): FoundSession | null {
  const found = readExport(path);
  if (found === null) return null;
  const info = getRow(found.content, 'info');
  const { created, updated } = getRow(info, 'time');
  const row = { ...info, parent_id: info.parentID, time_created: created, time_updated: updated };
  return toSession(row, path, found.file);
}

const MAX_EXPORT_BYTES = 256 * 1024 * 1024;
const OPENING = /^\s*\{\s*"info"\s*:/;

/** What `opencode export` wrote; null for any other file. */
export function readExport(path: string): { content: Row; file: FileHead } | null {
  const head = readHead(path, 1024);
  if (head === null || head.size > MAX_EXPORT_BYTES || !OPENING.test(head.bytes.toString('latin1'))) return null;
  const file = readHead(path, MAX_EXPORT_BYTES);
  const content = file === null ? null : parseRow(file.bytes.toString('utf8'));
  return file === null || content === null || !Array.isArray(content.messages) ? null : { content, file };
}
