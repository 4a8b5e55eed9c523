import { join } from 'node:path';
import type { Event } from '../../model/event.ts';
import { listNames, readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import { isDatabaseHead } from '../../platform/sqlite.ts';
import type { Agent, FoundSession, Reading } from '../agent.ts';
import { openDatabase } from '../database.ts';
import { pickNewest } from '../pick-newest.ts';
import { isGooseDatabase, listSessions, readMessages, readSession } from './database.ts';
import { describeFile, readFileMessages } from './json-lines.ts';
import { Teller } from './messages.ts';
import { DATABASE_NAME, findSessionsFolder, listTranscripts } from './places.ts';

export const gooseAgent: Agent = {
  name: 'goose',
  findSessions,
  listTranscripts,
  inspectFile(path) {
    return isDatabase(path) ? pickNewest(readDatabase(path)) : describeFile(path);
  },
  readEvents,
};

/** The database took over the sessions that were files, and left the files where they were. */
function* findSessions(machine: Machine): Generator<FoundSession> {
  const folder = findSessionsFolder(machine);
  if (folder === null) return;
  const names = listNames(folder);
  const known = new Set<string>();
  if (names.includes(DATABASE_NAME)) {
    for (const session of readDatabase(join(folder, DATABASE_NAME), machine.env.HANDOVER_SQLITE)) {
      known.add(session.id);
      yield session;
    }
  }
  for (const name of names) {
    const session = name.endsWith('.jsonl') ? describeFile(join(folder, name)) : null;
    if (session !== null && !known.has(session.id)) yield session;
  }
}

function readDatabase(path: string, driver?: string): FoundSession[] {
  const file = readHead(path, 0);
  const database = file === null ? null : openDatabase(path, driver);
  if (file === null || database === null) return [];
  try {
    return isGooseDatabase(database) ? listSessions(database, path, file) : [];
  } finally {
    database.close();
  }
}

function* readEvents(session: FoundSession, reading: Reading): Generator<Event> {
  reading.sessionId = session.id;
  if (isDatabase(session.path)) {
    yield* readFromDatabase(session, reading);
    return;
  }
  const teller = new Teller({ cwd: session.cwd, model: null }, reading);
  for (const message of readFileMessages(session.path, reading)) yield* teller.tell(message);
}

function* readFromDatabase({ path, id }: FoundSession, reading: Reading): Generator<Event> {
  const database = openDatabase(path);
  if (database === null) {
    reading.unreadable++;
    return;
  }
  try {
    const session = readSession(database, id);
    if (session === null) {
      reading.unreadable++;
      return;
    }
    const teller = new Teller(session, reading);
    for (const message of readMessages(database, id, reading)) yield* teller.tell(message);
  } finally {
    database.close();
  }
}

function isDatabase(path: string): boolean {
  const head = readHead(path, 16);
  return head !== null && isDatabaseHead(head.bytes);
}
