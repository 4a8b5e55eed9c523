import type { Machine } from '../../platform/machine.ts';
import type { Agent, FoundSession } from '../agent.ts';
import { getText } from '../shared/json.ts';
import { openRows, type RowFormat, readRows } from '../shared/transcript.ts';
import { inspectTranscript } from './head.ts';
import { listTranscripts } from './paths.ts';
import { type ReaderState, startReader, TranscriptReader } from './reader.ts';
import { findRewound, isDead, REWIND, type Rewound, rewindNothing } from './rewinds.ts';
import { isIdle, isNeedless } from './rows.ts';

interface TranscriptState extends ReaderState {
  rewound: Rewound;
}

const format: RowFormat<TranscriptState> = {
  start: () => ({ ...startReader(), rewound: rewindNothing() }),
  lookAhead: ({ path }, until) => ({ ...startReader(), rewound: findRewound(path, until) }),
  openReader: ({ state, reading, knowsAll }) => {
    const reader = new TranscriptReader(state, reading);
    return {
      read: ({ row, line }) => {
        if (!knowsAll && row.type === REWIND) return null;
        const isSilent = isIdle(getText(row, 'type') ?? '');
        return isSilent || isDead(state.rewound, line, getText(row, 'id')) ? [] : reader.read(row, line);
      },
      finish: () => [],
      keep: () => state,
    };
  },
  shortcuts: () => ({ isNeedless }),
};

export const copilotAgent: Agent = {
  name: 'copilot',
  findSessions,
  listTranscripts,
  inspectFile: inspectTranscript,
  readEvents: (session, reading) => readRows(format, session, reading),
  openTranscript: (opening) => openRows(format, opening),
};

function* findSessions(machine: Machine): Generator<FoundSession> {
  for (const path of listTranscripts(machine)) {
    const session = inspectTranscript(path);
    if (session !== null) yield session;
  }
}
