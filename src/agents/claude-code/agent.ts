import type { Event } from '../../model/event.ts';
import type { Agent, FoundSession, Reading } from '../agent.ts';
import { readJsonLines } from '../json-lines.ts';
import { getText, type Row } from '../row.ts';
import { Conversation } from './conversation.ts';
import { findSessions, inspectFile } from './find.ts';
import { listTranscripts } from './paths.ts';
import { findRewoundPrompts } from './rewound.ts';
import { isNeedlessRow } from './rows.ts';

export const claudeCodeAgent: Agent = {
  name: 'claude-code',
  findSessions,
  listTranscripts,
  inspectFile,
  readEvents,
};

function* readEvents(session: FoundSession, reading: Reading): Generator<Event> {
  const rewound = findRewoundPrompts(session.path);
  const dead = new Set<string>();
  const conversation = new Conversation(session, reading);
  // Rows that tell nothing still link others to what is dead.
  const isNeedless = rewound.size === 0 ? isNeedlessRow : undefined;
  for (const numbered of readJsonLines(session.path, reading, isNeedless)) {
    if (rewound.size > 0 && isDead(numbered.row, rewound, dead)) continue;
    yield* conversation.read(numbered);
  }
  yield* conversation.finish();
}

/**
 * A row hangs on a row before it, a compaction on the last row that it covers. `dead` are the dead rows so far: one that
 * claims to hang on a later row does not die with it, or a cycle could take everything along.
 */
function isDead(row: Row, rewound: ReadonlySet<string>, dead: Set<string>): boolean {
  const uuid = getText(row, 'uuid');
  if (uuid === null) return false;
  const parent = getText(row, 'parentUuid') ?? getText(row, 'logicalParentUuid');
  if (!rewound.has(uuid) && (parent === null || !dead.has(parent))) return false;
  dead.add(uuid);
  return true;
}
