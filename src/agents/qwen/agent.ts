import type { Agent } from '../agent.ts';
import { openRows, type RowFormat, readRows } from '../transcript.ts';
import { Conversation, type ConversationState, startConversation } from './conversation.ts';
import { findSessions, inspectFile } from './find.ts';
import { listTranscripts } from './places.ts';
import { type DeadLines, findDeadLines, isRewind } from './rewound.ts';
import { isNeedlessRow } from './rows.ts';

interface ChatState extends ConversationState {
  dead: DeadLines[];
}

const format: RowFormat<ChatState> = {
  start: ({ cwd }) => ({ ...startConversation(cwd), dead: [] }),
  lookAhead: ({ cwd, path }, until) => ({ ...startConversation(cwd), dead: findDeadLines(path, until) }),
  openReader: ({ state, session, reading, knowsAll }) => {
    const conversation = new Conversation(state, session, reading);
    return {
      read: (numbered) => {
        const { row, line } = numbered;
        if (!knowsAll && isRewind(row)) return null;
        const isDead = state.dead.some(({ after, before }) => line > after && line < before);
        return isDead ? [] : conversation.read(numbered);
      },
      finish: () => conversation.finish(),
      keep: () => state,
    };
  },
  shortcuts: () => ({ isNeedless: isNeedlessRow }),
};

export const qwenAgent: Agent = {
  name: 'qwen',
  findSessions,
  listTranscripts,
  inspectFile,
  readEvents: (session, reading) => readRows(format, session, reading),
  openTranscript: (opening) => openRows(format, opening),
};
