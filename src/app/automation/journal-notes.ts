import { join } from 'node:path';
import { HandoverError } from '../../errors.ts';
import { isHandoverId } from '../../model/id.ts';
import { formatTimestamp } from '../../model/time.ts';
import { removeFile } from '../../platform/durable-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { withLock } from '../../platform/lock.ts';
import { appendEntry, nextTimestamp } from '../../store/journal.ts';
import { type FinalStatus, moveStatus } from '../../store/status.ts';
import { LOCKS, RELAY_LOCK, type Store } from '../../store/store.ts';
import { keyOfSession, READY_FOLDERS } from './folders.ts';
import { listGiven } from './given.ts';
import { readRecord, writeRecord } from './small-records.ts';
import { JOURNAL_EXAMPLE, JOURNAL_QUEUE, type JournalNote, listNotes } from './spool.ts';

const LOCK_WAIT_MS = 5000;

/**
 * Enters in the journal what hooks have noted for it. Workers take turns, and a note goes when it is entered: who is killed in
 * between leaves an entry that is made twice, rather than none.
 */
export function enterJournalNotes(store: Store): void {
  if (listNotes(store.root, JOURNAL_QUEUE).length === 0) return;
  const folder = ensurePrivateFolder(store.root, LOCKS);
  const turn = { folder, name: `${RELAY_LOCK}journal`, waitMs: LOCK_WAIT_MS, clock: store.machine.clock };
  withLock(turn, () => {
    for (const name of listNotes(store.root, JOURNAL_QUEUE)) {
      const path = join(store.root, ...READY_FOLDERS.spool, name);
      const note = readRecord(path, JOURNAL_EXAMPLE);
      if (note !== null) enter(store, note);
      removeFile(path);
    }
  });
}

function enter(store: Store, { event, handover, session, reason }: JournalNote): void {
  if (event !== 'delivered' && isHandoverId(handover)) {
    moveOnce(store, handover, { to: event, session, reason });
    return;
  }
  appendEntry(store, {
    at: formatTimestamp(nextTimestamp(store)),
    event,
    subject: handover,
    session,
    reason,
  });
}

interface Consumed {
  count: number;
}

/** What a session was given has been taken up once it made a turn with it. */
export function enterConsumed(
  store: Store,
  { agent, session, atMs }: { agent: string; session: string; atMs: number },
): void {
  const key = keyOfSession({ agent, session });
  const given = listGiven(store.root, key).filter((one) => one.atMs < atMs);
  const name = `${key}.consumed.json`;
  const path = join(store.root, ...READY_FOLDERS.given, name);
  const done = readRecord<Consumed>(path, { count: 0 })?.count ?? 0;
  if (given.length <= done) return;
  for (const { handover, form } of given.slice(done)) {
    if (form === 'brief') moveOnce(store, handover, { to: 'consumed', session, reason: undefined });
  }
  writeRecord(store.root, [READY_FOLDERS.given, name], { count: given.length } satisfies Consumed);
}

/** A status is final: what comes later changes nothing, and is no failure. */
function moveOnce(
  store: Store,
  handover: string,
  move: { to: FinalStatus; session: string; reason: string | undefined },
): void {
  try {
    moveStatus(store, handover, move);
  } catch (error) {
    if (!(error instanceof HandoverError && error.code === 'HANDOVER_STATUS_FINAL')) throw error;
  }
}
