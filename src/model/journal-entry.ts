import * as v from 'valibot';
import { Timestamp } from './scalars.ts';

export const JOURNAL_EVENTS = [
  'saved',
  'migrated',
  'imported',
  'received',
  'sent',
  'delivered',
  'consumed',
  'rejected_stale',
  'rejected_invalid',
  'pinned',
  'unpinned',
  'resolved',
  'refuted',
  'superseded',
  'late',
  'forgotten',
  'quarantined',
  'acknowledged',
] as const;
export const JournalEvent = v.picklist(JOURNAL_EVENTS);
export type JournalEvent = v.InferOutput<typeof JournalEvent>;

/** One line of the journal: that a handover was saved, or what happened to it afterwards. */
export const JournalEntry = v.strictObject({
  schema: v.literal('journal/1'),
  at: Timestamp,
  event: JournalEvent,
  /** The handover; the file for entries about damage; the digest of its manifest for a bundle that came or went. */
  subject: v.string(),
  fact: v.exactOptional(v.string()),
  session: v.exactOptional(v.string()),
  reason: v.exactOptional(v.string()),
  detail: v.exactOptional(v.record(v.string(), v.unknown())),
  checksum: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
});
export type JournalEntry = v.InferOutput<typeof JournalEntry>;
export type JournalDraft = Omit<JournalEntry, 'schema' | 'checksum'>;
