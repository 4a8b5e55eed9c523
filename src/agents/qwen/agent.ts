import type { Event } from '../../model/event.ts';
import type { Agent, FoundSession, Reading } from '../agent.ts';
import { readJsonLines } from '../json-lines.ts';
import { Conversation } from './conversation.ts';
import { findSessions, inspectFile } from './find.ts';
import { listTranscripts } from './places.ts';
import { findDeadLines } from './rewound.ts';
import { isNeedlessRow } from './rows.ts';

export const qwenAgent: Agent = { name: 'qwen', findSessions, listTranscripts, inspectFile, readEvents };

function* readEvents(session: FoundSession, reading: Reading): Generator<Event> {
  const dead = findDeadLines(session.path);
  const conversation = new Conversation(session, reading);
  for (const numbered of readJsonLines(session.path, reading, { isNeedless: isNeedlessRow })) {
    const { line } = numbered;
    if (!dead.some(({ after, before }) => line > after && line < before)) yield* conversation.read(numbered);
  }
  yield* conversation.finish();
}
