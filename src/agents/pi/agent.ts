import type { Event } from '../../model/event.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Agent, FoundSession, Reading } from '../agent.ts';
import { readJsonLines } from '../json-lines.ts';
import { getText } from '../row.ts';
import { Teller } from './entries.ts';
import { describeFile } from './head.ts';
import { findFiles } from './places.ts';
import { findLiveEntries } from './tree.ts';

export const piAgent: Agent = {
  name: 'pi',
  findSessions,
  listTranscripts: findFiles,
  inspectFile: describeFile,
  readEvents,
};

function* findSessions(machine: Machine): Generator<FoundSession> {
  for (const path of findFiles(machine)) {
    const session = describeFile(path);
    if (session !== null) yield session;
  }
}

function* readEvents(session: FoundSession, reading: Reading): Generator<Event> {
  reading.sessionId = session.id;
  const isLive = findLiveEntries(session.path);
  const teller = new Teller(session.cwd, reading);
  for (const { row, line } of readJsonLines(session.path, reading)) {
    if (isLive(row.type === 'session' ? null : getText(row, 'id'))) yield* teller.tell(row, line);
  }
}
