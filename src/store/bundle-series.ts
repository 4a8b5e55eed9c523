import { encodeBase32 } from '../model/hash.ts';
import type { JournalEntry } from '../model/journal-entry.ts';
import { withCreationLock } from './handovers.ts';
import { appendEntry, readEntriesOf } from './journal.ts';
import type { Store } from './store.ts';

/** The position of a bundle in the series of one sender. */
export interface SeriesPosition {
  series: string;
  sequence: number;
  /** The digest of the manifest before; null for the first. */
  previous: string | null;
}

/** Makes the next bundle of the series of `scope`. Journalled before it is returned: no sequence number is used twice. */
export function takeNextInSeries<T>(
  store: Store,
  scope: string,
  make: (place: SeriesPosition) => { digest: string; bundle: T },
): T {
  return withCreationLock(store, () => {
    const last = readEntriesOf(store, ['sent']).findLast(({ detail }) => detail?.scope === scope);
    const known = last?.detail?.series;
    const series = typeof known === 'string' ? known : encodeBase32(store.machine.random.bytes(10), 16);
    const sequence = sequenceOf(last) + 1;
    const { digest, bundle } = make({ series, sequence, previous: last?.subject ?? null });
    appendEntry(store, { event: 'sent', subject: digest, detail: { scope, series, sequence } });
    return bundle;
  });
}

/** The newest bundle that was imported from a series of a signer; `key` is the fingerprint. Null for none. */
export function findReceived(store: Store, key: string, series: string): { sequence: number; digest: string } | null {
  const received = readEntriesOf(store, ['received'])
    .filter(({ detail }) => detail?.key === key && detail.series === series)
    .map((entry) => ({ sequence: sequenceOf(entry), digest: entry.subject }));
  return received.sort((a, b) => b.sequence - a.sequence)[0] ?? null;
}

function sequenceOf(entry: JournalEntry | undefined): number {
  const value = entry?.detail?.sequence;
  return typeof value === 'number' ? value : 0;
}
