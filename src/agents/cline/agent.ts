import { basename } from 'node:path';
import type { Event } from '../../model/event.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Agent, FoundSession, Reading } from '../agent.ts';
import { readTask } from './classic.ts';
import { inspectMessages, inspectTask, readTaskIndex } from './manifest.ts';
import { readMessages } from './messages.ts';
import {
  CLASSIC_NAME,
  findDataFolder,
  listAllTranscripts,
  listTaskHomes,
  listTasks,
  listTranscripts,
  MESSAGES,
} from './places.ts';

/** Both generations: the program with its sessions, and the tasks of the editor extension before it. */
export const clineAgent: Agent = {
  name: 'cline',
  findSessions,
  listTranscripts: listAllTranscripts,
  inspectFile,
  readEvents,
};

function* findSessions(machine: Machine): Generator<FoundSession> {
  const data = findDataFolder(machine);
  const paths = data === null ? [] : listTranscripts(data);
  for (const path of paths) {
    const session = inspectMessages(path);
    if (session !== null) yield session;
  }
  for (const home of listTaskHomes(machine)) yield* findTasks(home);
}

function* findTasks(home: string): Generator<FoundSession> {
  const paths = [...listTasks(home)];
  const index = paths.length === 0 ? undefined : readTaskIndex(home);
  for (const path of paths) {
    const session = inspectTask(path, index);
    if (session !== null) yield session;
  }
}

function inspectFile(path: string): FoundSession | null {
  if (path.endsWith(MESSAGES)) return inspectMessages(path);
  return basename(path) === CLASSIC_NAME ? inspectTask(path) : null;
}

function readEvents(session: FoundSession, reading: Reading): Iterable<Event> {
  return session.path.endsWith(MESSAGES) ? readMessages(session, reading) : readTask(session, reading);
}
