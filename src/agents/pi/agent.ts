import type { Machine } from '../../platform/machine.ts';
import type { Agent, FoundSession } from '../agent.ts';
import { getText, type Row } from '../json.ts';
import { openRows, type RowFormat, readRows } from '../transcript.ts';
import { startTeller, Teller, type TellerState } from './entries.ts';
import { describeFile } from './head.ts';
import { findFiles } from './places.ts';
import { findLiveEntries, type LiveEntries } from './tree.ts';

interface SessionState extends TellerState {
  live: LiveEntries;
  /** The entry that was read last. */
  last: string | null;
}

const format: RowFormat<SessionState> = {
  start: ({ cwd }) => ({ ...startTeller(cwd), live: null, last: null }),
  lookAhead: ({ cwd, path }, until) => ({
    ...startTeller(cwd),
    live: findLiveEntries(path, until),
    last: null,
  }),
  needsLookAhead: true,
  openReader: ({ state, session, reading, knowsAll }) => {
    const teller = new Teller(state, reading);
    reading.sessionId = session.id;
    return {
      read: ({ row, line }) => {
        const id = row.type === 'session' ? null : getText(row, 'id');
        if (!knowsAll && id !== null) {
          if (!followsLive(row, state)) return null;
          state.live?.add(id);
        }
        state.last = id ?? state.last;
        return id === null || state.live === null || state.live.has(id) ? teller.tell(row, line) : [];
      },
      finish: () => [],
      keep: () => state,
    };
  },
};

/** What follows on the last entry is live with it; anything else may make another branch the live one. */
function followsLive(row: Row, { live, last }: SessionState): boolean {
  return getText(row, 'parentId') === last && (last === null || live === null || live.has(last));
}

export const piAgent: Agent = {
  name: 'pi',
  findSessions,
  listTranscripts: findFiles,
  inspectFile: describeFile,
  readEvents: (session, reading) => readRows(format, session, reading),
  openTranscript: (opening) => openRows(format, opening),
};

function* findSessions(machine: Machine): Generator<FoundSession> {
  for (const path of findFiles(machine)) {
    const session = describeFile(path);
    if (session !== null) yield session;
  }
}
