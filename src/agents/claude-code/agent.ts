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
  const dead = findRewoundPrompts(session.path);
  const conversation = new Conversation(session, reading);
  // Rows that tell nothing still link others to what is dead.
  const isNeedless = dead.size === 0 ? isNeedlessRow : undefined;
  for (const numbered of readJsonLines(session.path, reading, isNeedless)) {
    if (dead.size > 0 && isDead(numbered.row, dead)) continue;
    yield* conversation.read(numbered);
  }
  yield* conversation.finish();
}

/** A row hangs on the row before it, a compaction on the last row that it covers. */
function isDead(row: Row, dead: Set<string>): boolean {
  const uuid = getText(row, 'uuid');
  if (uuid === null) return false;
  if (dead.has(uuid)) return true;
  const parent = getText(row, 'parentUuid') ?? getText(row, 'logicalParentUuid');
  if (parent === null || !dead.has(parent)) return false;
  dead.add(uuid);
  return true;
}
