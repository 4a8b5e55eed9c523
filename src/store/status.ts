import { HandoverError } from '../errors.ts';
import { encodeBase32 } from '../model/hash.ts';
import type { JournalEntry } from '../model/journal-entry.ts';
import { appendEntry, type JournalPosition, readEntriesOf } from './journal.ts';
import type { Store } from './store.ts';

/** The statuses that end `pending`. Each is final. */
export const FINAL_STATUSES = ['consumed', 'rejected_stale', 'rejected_invalid'] as const;
export type FinalStatus = (typeof FINAL_STATUSES)[number];
export type Status = 'pending' | FinalStatus;

/** Whether a handover still waits to be restored; if not, since when, by which session and why. */
export type StatusEntry = { status: Status; at: string | null; session: string | null; reason: string | null };

export interface StatusMove {
  to: FinalStatus;
  /** The session that restored it, or tried to. */
  session?: string | undefined;
  reason?: string | undefined;
  detail?: Record<string, unknown>;
}

/** The status of every handover that is no longer pending. The first entry decides: a status is final. */
export function readStatuses(store: Store): Map<string, StatusEntry> {
  const statuses = new Map<string, StatusEntry>();
  for (const entry of readEntriesOf(store, FINAL_STATUSES))
    if (!statuses.has(entry.subject)) statuses.set(entry.subject, toStatus(entry));
  return statuses;
}

export function readStatus(store: Store, id: string): StatusEntry {
  const first = findFirstMove(store, id);
  return first === undefined ? { status: 'pending', at: null, session: null, reason: null } : toStatus(first);
}

/** Moves a handover from pending to a final status. Of several at once, the first in the journal wins; others fail. */
export function moveStatus(store: Store, id: string, { to, session, reason, detail }: StatusMove): void {
  const position: JournalPosition = new Map();
  const before = findFirstMove(store, id, position);
  if (before !== undefined) throw finalStatusError(id, before, to);
  const move = encodeBase32(store.machine.random.bytes(10), 16);
  appendEntry(store, {
    event: to,
    subject: id,
    ...(session === undefined ? {} : { session }),
    ...(reason === undefined ? {} : { reason }),
    detail: { ...detail, move },
  });
  const first = findFirstMove(store, id, position);
  if (first !== undefined && first.detail?.move !== move) throw finalStatusError(id, first, to);
}

function findFirstMove(store: Store, id: string, position?: JournalPosition): JournalEntry | undefined {
  return readEntriesOf(store, FINAL_STATUSES, position).find((entry) => entry.subject === id);
}

function toStatus({ event, at, session, reason }: JournalEntry): StatusEntry {
  const status = FINAL_STATUSES.find((final) => final === event) ?? 'pending';
  return { status, at, session: session ?? null, reason: reason ?? null };
}

function finalStatusError(id: string, { event, at }: JournalEntry, to: FinalStatus): HandoverError {
  const message = `handover ${id} has been ${event} since ${at} and cannot become ${to}`;
  return new HandoverError('HANDOVER_STATUS_FINAL', message, {
    hint: `Read it anyway: handover render ${id}`,
  });
}
