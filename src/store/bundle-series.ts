import { encodeBase32 } from '../model/hash.ts';
import type { JournalEntry } from '../model/journal-entry.ts';
import { formatTimestamp } from '../model/time.ts';
import { withCreationLock } from './handovers.ts';
import { appendEntry, nextTimestamp, readJournalFile } from './journal.ts';
import { listJournalFiles, type Store } from './store.ts';

/** Where a bundle stands among those of one sender that follow each other. */
export interface SeriesPlace {
  series: string;
  sequence: number;
  /** The digest of the manifest before; null for the first. */
  previous: string | null;
}

/**
 * Makes a bundle for the next place of the series that belongs to `scope`, and notes it in the journal before it leaves,
 * so that no two bundles have one place. `make` returns the bundle with the digest of its manifest.
 */
export function takePlace<T>(
  store: Store,
  scope: string,
  make: (place: SeriesPlace) => { digest: string; bundle: T },
): T {
  return withCreationLock(store, () => {
    const last = readEntries(store, 'sent').findLast(({ detail }) => detail?.scope === scope);
    const place: SeriesPlace = {
      series: textIn(last, 'series') ?? encodeBase32(store.machine.random.bytes(10), 16),
      sequence: numberIn(last, 'sequence') + 1,
      previous: last?.subject ?? null,
    };
    const { digest, bundle } = make(place);
    const { series, sequence } = place;
    const at = formatTimestamp(nextTimestamp(store));
    appendEntry(store, { at, event: 'sent', subject: digest, detail: { scope, series, sequence } });
    return bundle;
  });
}

/** The newest bundle that was taken in from a series of a signer, by the fingerprint of the key; null when none was. */
export function findReceived(
  store: Store,
  key: string,
  series: string,
): { sequence: number; digest: string } | null {
  const received = readEntries(store, 'received')
    .filter(({ detail }) => detail?.key === key && detail.series === series)
    .map((entry) => ({ sequence: numberIn(entry, 'sequence'), digest: entry.subject }));
  return received.sort((a, b) => b.sequence - a.sequence)[0] ?? null;
}

function readEntries(store: Store, event: JournalEntry['event']): JournalEntry[] {
  return listJournalFiles(store)
    .flatMap((path) => readJournalFile(path).entries)
    .filter((entry) => entry.event === event);
}

function textIn(entry: JournalEntry | undefined, key: string): string | null {
  const value = entry?.detail?.[key];
  return typeof value === 'string' ? value : null;
}

function numberIn(entry: JournalEntry | undefined, key: string): number {
  const value = entry?.detail?.[key];
  return typeof value === 'number' ? value : 0;
}
