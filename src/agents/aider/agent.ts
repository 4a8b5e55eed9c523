import { basename, dirname } from 'node:path';
import type { Event } from '../../model/event.ts';
import { readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Agent, FoundSession, Reading } from '../agent.ts';
import { listSessions, readHistory } from './history.ts';
import { findHistories, HISTORY_NAME, listTranscripts } from './places.ts';
import { Teller } from './turns.ts';

const OPENING = /^\s*# aider chat started at \d{4}-/;

export const aiderAgent: Agent = {
  name: 'aider',
  findSessions,
  listTranscripts,
  /** The newest session of the file: aider appends all to one. */
  inspectFile(path) {
    const isOwn = basename(path) === HISTORY_NAME;
    const head = readHead(path, 1024);
    if (head === null || !(isOwn || OPENING.test(head.bytes.toString('latin1')))) return null;
    const { size, changedMs } = head;
    return listSessions(path, { cwd: isOwn ? dirname(path) : null, size, changedMs }).at(-1) ?? null;
  },
  readEvents,
};

function* findSessions(machine: Machine): Generator<FoundSession> {
  for (const { path, cwd } of findHistories(machine)) {
    const head = readHead(path, 0);
    if (head !== null) yield* listSessions(path, { cwd, size: head.size, changedMs: head.changedMs });
  }
}

function* readEvents(session: FoundSession, reading: Reading): Generator<Event> {
  reading.sessionId = session.id;
  const teller = new Teller(session.cwd, reading);
  const onLongLine = (): void => {
    reading.unreadable++;
  };
  for (const line of readHistory(session.path, onLongLine)) {
    if (line.session !== session.id) continue;
    reading.rows++;
    yield* teller.tell(line);
  }
  yield* teller.finish();
}
