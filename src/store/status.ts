import { HandoverError } from '../errors.ts';
import { encodeBase32 } from '../model/hash.ts';
import type { JournalEntry } from '../model/journal-entry.ts';
import { formatTimestamp } from '../model/time.ts';
import { appendEntry, nextTimestamp, readEntriesOf } from './journal.ts';
import type { Store } from './store.ts';

/** What a handover that was to be restored can end in. Each is final. */
export const FINAL_STATUSES = ['consumed', 'rejected_stale', 'rejected_invalid'] as const;
export type FinalStatus = (typeof FINAL_STATUSES)[number];
export type Status = 'pending' | FinalStatus;

/** Whether a handover still waits for a session to take it up, else when, by which session and why it does not. */
export interface StatusEntry {
  status: Status;
  at: string | null;
  session: string | null;
  reason: string | null;
}

const PENDING: StatusEntry = { status: 'pending', at: null, session: null, reason: null };

export interface StatusMove {
  to: FinalStatus;
  /** The session that took it up, or would have. */
  session?: string | undefined;
  reason?: string | undefined;
  /** What is worth keeping besides. */
  detail?: Record<string, unknown>;
}

/** The status of every handover that is not pending any more. The first entry decides: a status is final. */
export function readStatuses(store: Store): Map<string, StatusEntry> {
  const statuses = new Map<string, StatusEntry>();
  for (const entry of readEntriesOf(store, FINAL_STATUSES))
    if (!statuses.has(entry.subject)) statuses.set(entry.subject, describe(entry));
  return statuses;
}

export function readStatus(store: Store, id: string): StatusEntry {
  const [first] = listMoves(store, id);
  return first === undefined ? PENDING : describe(first);
}

/**
 * Moves a handover from pending to a final status. Of several who do so at once, one succeeds: whose entry stands first
 * in the journal. All others, and every later move, are refused.
 */
export function moveStatus(store: Store, id: string, { to, session, reason, detail }: StatusMove): void {
  const before = readStatus(store, id);
  if (before.status !== 'pending') throw refuseMove(id, before, to);
  const move = encodeBase32(store.machine.random.bytes(10), 16);
  appendEntry(store, {
    at: formatTimestamp(nextTimestamp(store)),
    event: to,
    subject: id,
    ...(session === undefined ? {} : { session }),
    ...(reason === undefined ? {} : { reason }),
    detail: { ...detail, move },
  });
  const [first] = listMoves(store, id);
  if (first !== undefined && first.detail?.move !== move) throw refuseMove(id, describe(first), to);
}

function listMoves(store: Store, id: string): JournalEntry[] {
  return readEntriesOf(store, FINAL_STATUSES).filter((entry) => entry.subject === id);
}

function describe({ event, at, session, reason }: JournalEntry): StatusEntry {
  const status = FINAL_STATUSES.find((final) => final === event) ?? 'pending';
  return { status, at, session: session ?? null, reason: reason ?? null };
}

function refuseMove(id: string, { status, at }: StatusEntry, to: FinalStatus): HandoverError {
  return new HandoverError(
    'HANDOVER_STATUS_FINAL',
    `handover ${id} is ${status} since ${at}, and cannot become ${to}`,
    { hint: `Read it all the same with: handover render ${id}` },
  );
}
