import { HandoverError } from '../errors.ts';
import { encodeBase32 } from '../model/hash.ts';
import type { JournalEntry } from '../model/journal-entry.ts';
import {
  appendEntry,
  compareEntries,
  identifyEntry,
  isFromElsewhere,
  type JournalPosition,
  readEntriesOf,
} from './journal.ts';
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
  const moves = new Map<string, JournalEntry[]>();
  for (const entry of readEntriesOf(store, FINAL_STATUSES))
    moves.set(entry.subject, [...(moves.get(entry.subject) ?? []), entry]);
  return new Map(
    [...moves].flatMap(([id, of]) => [findFirst(of)].flatMap((first) => (first ? [[id, toStatus(first)]] : []))),
  );
}

/**
 * Of moves in this store, the first that was written: each writer looks after it wrote, so that exactly one wins. That one is all
 * that other stores receive. Between stores the earliest wins, in all of them the same.
 */
function findFirst(moves: readonly JournalEntry[]): JournalEntry | undefined {
  const own = moves.find((move) => !isFromElsewhere(move));
  const others = moves.filter(isFromElsewhere);
  return [...(own === undefined ? [] : [own]), ...others].sort(compareEntries)[0];
}

/** The moves of this store that decided there, by `identifyEntry`. */
export function listDecidingMoves(store: Store): Set<string> {
  const first = new Map<string, JournalEntry>();
  for (const entry of readEntriesOf(store, FINAL_STATUSES))
    if (!isFromElsewhere(entry) && !first.has(entry.subject)) first.set(entry.subject, entry);
  return new Set([...first.values()].map(identifyEntry));
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
  return findFirst(readEntriesOf(store, FINAL_STATUSES, position).filter((entry) => entry.subject === id));
}

function toStatus({ event, at, session, reason }: JournalEntry): StatusEntry {
  const status = FINAL_STATUSES.find((final) => final === event) ?? 'pending';
  return { status, at, session: session ?? null, reason: reason ?? null };
}

function finalStatusError(id: string, { event, at }: JournalEntry, to: FinalStatus): HandoverError {
  const message = `handover ${id} has been ${event} since ${at} and cannot become ${to}`;
  const hint = `Read it anyway: handover render ${id}`;
  return new HandoverError('HANDOVER_STATUS_FINAL', message, { hint });
}
