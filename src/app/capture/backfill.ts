import { type FoundSession, startReadStats } from '../../agents/agent.ts';
import { findSessions, type SessionFilter } from '../../agents/find-session.ts';
import { loadAgent } from '../../agents/table.ts';
import { catchIf, isFailure, messageOf } from '../../errors.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { acquireLock } from '../../platform/lock.ts';
import type { Machine } from '../../platform/machine.ts';
import { nameSession, skipForgotten } from '../../store/journal.ts';
import { LOCKS, type Store } from '../../store/store.ts';
import { readCaptured } from './catch-up.ts';
import { countEvents, judgeReading, startEventCount } from './drift.ts';
import { previewSession, type SessionOfAgent, saveSession } from './save-session.ts';

/** The sessions on this machine that were never captured, oldest first, without forgotten ones. */
export async function findHistory(store: Store, filter: SessionFilter): Promise<FoundSession[]> {
  const found = await findSessions(store.machine, filter);
  if (found.length === 0) return [];
  const captured = await readCaptured(store);
  const left = found.filter((session) => !captured.has(nameSession(session)));
  const startOf = ({ startedMs, changedMs }: FoundSession): number => startedMs ?? changedMs;
  return [...skipForgotten(store, left)].sort((a, b) => startOf(a) - startOf(b));
}

/** What became of a session. `empty`: nothing was said in it. `refused`: it cannot be read; `reason` says why. */
export type BackfillResult = { session: FoundSession } & (
  | { outcome: 'kept'; handover: string }
  | { outcome: 'empty' }
  | { outcome: 'refused'; reason: string }
);

/**
 * Captures one session after the other. A session that cannot be read stops nothing; a store that cannot be written does.
 * Stops when the caller stops reading; what was captured is not captured again. One at a time for a store (HANDOVER_LOCKED).
 */
export async function* captureHistory(
  store: Store,
  sessions: readonly FoundSession[],
): AsyncGenerator<BackfillResult, void> {
  const folder = ensurePrivateFolder(store.root, LOCKS);
  const lock = acquireLock({ folder, name: 'backfill', waitMs: 0, clock: store.machine.clock });
  try {
    for (const session of sessions) yield await captureOne(store, session);
  } finally {
    lock.release();
  }
}

async function captureOne(store: Store, session: FoundSession): Promise<BackfillResult> {
  const agent = await loadAgent(session.agent);
  try {
    if (isEmpty({ agent, session })) return { session, outcome: 'empty' };
    const result = await saveSession(store, { agent, session }, { savesCheckpoint: false });
    if (result.outcome !== 'refused') return { session, outcome: 'kept', handover: result.handover.id };
    return { session, outcome: 'refused', reason: 'nothing in it was understood' };
  } catch (error) {
    // What can be read without the store failed because of the store.
    if (!isFailure(error) || (await canRead({ agent, session }, store.machine))) throw error;
    return { session, outcome: 'refused', reason: messageOf(error) };
  }
}

async function canRead(session: SessionOfAgent, machine: Machine): Promise<boolean> {
  try {
    await previewSession(session, { store: null, machine });
    return true;
  } catch (error) {
    if (isFailure(error)) return false;
    throw error;
  }
}

/** Whether it was understood, and nothing was said or done. */
function isEmpty(session: SessionOfAgent): boolean {
  const stats = startReadStats();
  if (holdsWork(session, stats)) return false;
  return judgeReading(stats, startEventCount(), session.session.bytes).understanding !== 'nothing';
}

/** Reads no further than to the first event. */
function holdsWork({ agent, session }: SessionOfAgent, stats = startReadStats()): boolean {
  for (const event of agent.readEvents(session, stats)) if (countEvents([event]).total > 0) return true;
  return false;
}

/** Whether something was said in one of them at least, and can be read. */
export async function canCaptureAny(sessions: readonly FoundSession[]): Promise<boolean> {
  for (const session of sessions) {
    const agent = await loadAgent(session.agent);
    if (catchIf(isFailure, false, () => holdsWork({ agent, session }))) return true;
  }
  return false;
}
