import type { Event } from '../../model/event.ts';
import { readHead } from '../../platform/foreign-file.ts';
import type { Agent, FoundSession, Reading } from '../agent.ts';
import { readJsonLines } from '../json-lines.ts';
import { countUnknown, getRow, getRows, getText, parseRow, type Row } from '../row.ts';
import { Conversation } from './conversation.ts';
import { findSessions, inspectFile } from './find.ts';
import { listTranscripts } from './places.ts';
import { findRewoundMessages } from './rewound.ts';

export const geminiAgent: Agent = {
  name: 'gemini',
  findSessions,
  *listTranscripts(machine) {
    for (const { path } of listTranscripts(machine)) yield path;
  },
  inspectFile,
  readEvents,
};

function* readEvents(session: FoundSession, reading: Reading): Generator<Event> {
  const conversation = new Conversation(session, reading);
  if (session.path.endsWith('.json')) yield* readDocument(session, reading, conversation);
  else yield* readLog(session, reading, conversation);
  yield* conversation.finish();
}

function* readLog(session: FoundSession, reading: Reading, conversation: Conversation): Generator<Event> {
  const dead = findRewoundMessages(session.path);
  for (const { row, line } of readJsonLines(session.path, reading)) {
    const id = getText(row, 'id');
    if (id !== null) {
      if (!dead.has(id)) yield* conversation.read(row, line);
      continue;
    }
    if (isHeader(row)) reading.sessionId = getText(row, 'sessionId');
    else if ('$set' in row) yield* readUpdate(getRow(row, '$set'), line, conversation);
    else if (!('$rewindTo' in row)) countUnknown(reading.unknown, '(no id)');
  }
}

function* readUpdate(update: Row, line: number, conversation: Conversation): Generator<Event> {
  if (Array.isArray(update.messages)) yield* conversation.replace(update.messages, line);
}

function isHeader(row: Row): boolean {
  return typeof row.sessionId === 'string' && typeof row.projectHash === 'string';
}

const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** Older versions rewrite one document after each message. Its messages are numbered in place of lines. */
function* readDocument(
  session: FoundSession,
  reading: Reading,
  conversation: Conversation,
): Generator<Event> {
  const file = readHead(session.path, MAX_DOCUMENT_BYTES);
  const document = file === null ? null : parseRow(file.bytes.toString('utf8').replace(/^\ufeff/, ''));
  reading.rows++;
  if (document === null) {
    reading.unreadable++;
    return;
  }
  reading.sessionId = getText(document, 'sessionId');
  for (const [index, row] of getRows(document, 'messages').entries()) {
    reading.rows++;
    yield* conversation.read(row, index + 1);
  }
}
