import type { Agent } from '../agent.ts';
import { openRows, type RowFormat, readRows } from '../shared/transcript.ts';
import { Conversation } from './conversation.ts';
import { decodeWithoutCopies } from './copies.ts';
import { findSessions, inspectFile } from './find.ts';
import { listTranscripts } from './paths.ts';
import { findRewound, startRewound } from './rewound.ts';
import { isNeedlessRow } from './rows.ts';
import { type ConversationState, startConversation } from './state.ts';

const format: RowFormat<ConversationState> = {
  start: ({ cwd }) => startConversation(cwd, startRewound()),
  lookAhead: ({ cwd, path }, until) => startConversation(cwd, findRewound(path, until)),
  openReader: (options) => new Conversation(options),
  shortcuts: ({ rewound }) => ({
    decode: decodeWithoutCopies,
    // Rows that tell nothing still link others to what is dead.
    ...(rewound.taken.size === 0 && { isNeedless: isNeedlessRow }),
  }),
};

export const claudeCodeAgent: Agent = {
  name: 'claude-code',
  findSessions,
  listTranscripts,
  inspectFile,
  readEvents: (session, reading) => readRows(format, session, reading),
  openTranscript: (opening) => openRows(format, opening),
};
