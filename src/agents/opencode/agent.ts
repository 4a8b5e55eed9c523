import type { Event } from '../../model/event.ts';
import { readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import { isDatabaseHead } from '../../platform/sqlite.ts';
import type { Agent, FoundSession, Reading } from '../agent.ts';
import { openDatabase } from '../database.ts';
import { pickNewest } from '../pick-newest.ts';
import { isOpenCodeDatabase, listSessions, openConversation } from './database.ts';
import { describeExport, readExport, toConversation } from './export.ts';
import { tellConversation } from './messages.ts';
import { findDatabases } from './places.ts';

export const opencodeAgent: Agent = {
  name: 'opencode',
  findSessions,
  listTranscripts: findDatabases,
  inspectFile(path) {
    if (!isDatabase(path)) return describeExport(path);
    return pickNewest(readDatabase(path));
  },
  readEvents,
};

function* findSessions(machine: Machine): Generator<FoundSession> {
  for (const path of findDatabases(machine)) yield* readDatabase(path, machine.env.HANDOVER_SQLITE);
}

function readDatabase(path: string, driver?: string): FoundSession[] {
  const file = readHead(path, 0);
  const database = file === null ? null : openDatabase(path, driver);
  if (file === null || database === null) return [];
  try {
    return isOpenCodeDatabase(database) ? listSessions(database, path, file) : [];
  } finally {
    database.close();
  }
}

function* readEvents(session: FoundSession, reading: Reading): Generator<Event> {
  reading.sessionId = session.id;
  if (isDatabase(session.path)) yield* readFromDatabase(session, reading);
  else {
    const found = readExport(session.path);
    if (found === null) reading.unreadable++;
    else yield* tellConversation(toConversation(found.content, reading), reading);
  }
}

function* readFromDatabase({ path, id }: FoundSession, reading: Reading): Generator<Event> {
  const database = openDatabase(path);
  if (database === null) {
    reading.unreadable++;
    return;
  }
  try {
    const conversation = openConversation(database, id, reading);
    if (conversation === null) reading.unreadable++;
    else yield* tellConversation(conversation, reading);
  } finally {
    database.close();
  }
}

function isDatabase(path: string): boolean {
  const head = readHead(path, 16);
  return head !== null && isDatabaseHead(head.bytes);
}
