import type { Event } from '../../model/event.ts';
import { readHead } from '../../platform/external-file.ts';
import type { Agent, FoundSession, Reading } from '../agent.ts';
import { countUnknown, getRow, getRows, getText, parseRow, type Row } from '../json.ts';
import type { NumberedRow } from '../json-lines.ts';
import { openRows, type RowFormat, readRows } from '../transcript.ts';
import { Conversation, type ConversationState, startConversation } from './conversation.ts';
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
  readEvents: (session, reading) =>
    isDocument(session) ? readDocument(session, reading) : readRows(format, session, reading),
  openTranscript: (opening) => (isDocument(opening.session) ? null : openRows(format, opening)),
};

function isDocument({ path }: FoundSession): boolean {
  return path.endsWith('.json');
}

interface LogState extends ConversationState {
  /** Messages that were taken back, by their ids. */
  dead: Set<string>;
}

const format: RowFormat<LogState> = {
  start: () => ({ ...startConversation(), dead: new Set() }),
  lookAhead: ({ path }, until) => ({ ...startConversation(), dead: findRewoundMessages(path, until) }),
  openReader: ({ state, session, reading, knowsAll }) => {
    const conversation = new Conversation(state, session, reading);
    return {
      read: (numbered) => {
        const id = getText(numbered.row, 'id');
        const isDead = id !== null && state.dead.has(id);
        if (!knowsAll && (isDead || '$rewindTo' in numbered.row)) return null;
        return isDead ? [] : readRow(numbered, conversation, reading);
      },
      finish: () => conversation.finish(),
      keep: () => state,
    };
  },
};

function* readRow(
  { row, line }: NumberedRow,
  conversation: Conversation,
  reading: Reading,
): Generator<Event> {
  if (getText(row, 'id') !== null) yield* conversation.read(row, line);
  else if (isHeader(row)) reading.sessionId = getText(row, 'sessionId');
  else if ('$set' in row) yield* readUpdate(getRow(row, '$set'), line, conversation);
  else if (!('$rewindTo' in row)) countUnknown(reading.unknown, '(no id)');
}

function* readUpdate(update: Row, line: number, conversation: Conversation): Generator<Event> {
  if (Array.isArray(update.messages)) yield* conversation.replace(update.messages, line);
}

function isHeader(row: Row): boolean {
  return typeof row.sessionId === 'string' && typeof row.projectHash === 'string';
}

const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** Older versions rewrite one document after each message. Its messages are numbered in place of lines. */
function* readDocument(session: FoundSession, reading: Reading): Generator<Event> {
  const conversation = new Conversation(startConversation(), session, reading);
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
  yield* conversation.finish();
}
