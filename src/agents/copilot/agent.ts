import type { Event } from '../../model/event.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Agent, FoundSession, Reading } from '../agent.ts';
import { readJsonLines } from '../json-lines.ts';
import { getText } from '../row.ts';
import { inspectTranscript } from './head.ts';
import { findCopilotHome, listTranscripts } from './paths.ts';
import { TranscriptReader } from './reader.ts';
import { findRewound } from './rewinds.ts';
import { isIdle, isNeedless } from './rows.ts';

export const copilotAgent: Agent = {
  name: 'copilot',
  findSessions,
  listTranscripts(machine) {
    const home = findCopilotHome(machine);
    return home === null ? [] : listTranscripts(home);
  },
  inspectFile: inspectTranscript,
  readEvents,
};

function* findSessions(machine: Machine): Generator<FoundSession> {
  const home = findCopilotHome(machine);
  if (home === null) return;
  for (const path of listTranscripts(home)) {
    const session = inspectTranscript(path);
    if (session !== null) yield session;
  }
}

function* readEvents(session: FoundSession, reading: Reading): Generator<Event> {
  const rewound = findRewound(session.path);
  const reader = new TranscriptReader(reading);
  for (const { row, line } of readJsonLines(session.path, reading, { isNeedless })) {
    if (isIdle(getText(row, 'type') ?? '') || rewound.isDead(line, getText(row, 'id'))) continue;
    yield* reader.read(row, line);
  }
}
