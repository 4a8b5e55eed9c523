import { HandoverError } from '../../errors.ts';
import type { Backend } from '../../platform/publish-settings.ts';
import type { Change, OutgoingFile, Plan, ProjectFiles, Publication, Publisher } from './publisher.ts';
import {
  digest,
  readSyncState,
  type SyncEntry,
  type SyncRoute,
  type SyncState,
  withDestinationLock,
  writeSyncState,
} from './sync-state.ts';

export interface StoredObject {
  bytes: Uint8Array;
  version: string;
}

/** A place that keeps bytes under paths and knows by a version whether they are still the same. */
export interface ObjectStore {
  readonly backend: Backend;
  readonly destination: string;
  /** The versions of all that is there, by path. */
  list(): Promise<ReadonlyMap<string, string>>;
  read(path: string): Promise<StoredObject | null>;
  /**
   * Writes if `expected` is what is there, null being nothing, and returns the new version; null if it is not, and
   * then nothing was changed.
   */
  write(path: string, bytes: Uint8Array, expected: string | null): Promise<string | null>;
  /** What a person should know of what is there. */
  inspect(paths: readonly string[]): Promise<string[]>;
}

/**
 * Publishes each file as an object. What somebody else has written since is never overwritten. Nothing is deleted:
 * what is gone here stays there.
 */
export function publishObjects(store: ObjectStore, route: SyncRoute): Publisher {
  const { backend, destination } = store;
  return {
    backend,
    destination,
    plan: async ({ files }) => planObjects(files, readSyncState(route)),
    publish: async (parcel) => await withDestinationLock(route, () => sendObjects(store, parcel, route)),
  };
}

function planObjects(files: readonly OutgoingFile[], arrivals: SyncState): Plan {
  const changes = files.flatMap((file): Change[] => {
    const arrival = arrivals.get(file.path);
    if (arrival?.sha256 === digest(file.bytes)) return [];
    return [describeChange(file, arrival === undefined)];
  });
  return { changes, waiting: [], notes: [] };
}

function describeChange({ path, bytes }: OutgoingFile, isNew: boolean): Change {
  return { path, change: isNew ? 'new' : 'changed', bytes: bytes.length };
}

async function sendObjects(
  store: ObjectStore,
  { files }: ProjectFiles,
  route: SyncRoute,
): Promise<Publication> {
  const known = readSyncState(route);
  const versions = await store.list();
  const arrivals = new Map<string, SyncEntry>();
  const changes: Change[] = [];
  const conflicts: string[] = [];
  try {
    for (const file of files) {
      const sent = await sendObject(store, file, {
        known: known.get(file.path),
        version: versions.get(file.path),
      });
      if (sent === 'conflict') conflicts.push(file.path);
      else arrivals.set(file.path, sent.arrival);
      if (sent !== 'conflict' && sent.change !== null) changes.push(sent.change);
    }
  } finally {
    writeSyncState(route, new Map([...known, ...arrivals]));
  }
  if (conflicts.length > 0) throw conflictError(conflicts, store.destination);
  const notes = await store.inspect(files.map(({ path }) => path));
  return { outcome: changes.length === 0 ? 'nothing new' : 'published', changes, commit: null, notes };
}

interface Standing {
  known: SyncEntry | undefined;
  /** What is there now. */
  version: string | undefined;
}

type SendResult = 'conflict' | { arrival: SyncEntry; change: Change | null };

async function sendObject(
  store: ObjectStore,
  file: OutgoingFile,
  { known, version }: Standing,
): Promise<SendResult> {
  const sha256 = digest(file.bytes);
  const isOurs = known !== undefined && known.version === version;
  if (isOurs && known.sha256 === sha256) return { arrival: known, change: null };
  if (version === undefined || isOurs) {
    const written = await store.write(file.path, file.bytes, version ?? null);
    if (written !== null) {
      const change = describeChange(file, version === undefined);
      return { arrival: { sha256, version: written }, change };
    }
  }
  const there = await store.read(file.path);
  if (there === null || digest(there.bytes) !== sha256) return 'conflict';
  return { arrival: { sha256, version: there.version }, change: null };
}

function conflictError(paths: readonly string[], destination: string): HandoverError {
  const [first = ''] = paths;
  const more = paths.length === 1 ? '' : ` and ${paths.length - 1} more`;
  return new HandoverError(
    'HANDOVER_PUBLISH_CONFLICT',
    `${first}${more} was written by somebody else in ${destination}, and was left as it is`,
    {
      hint: 'Take what you need of it into your own file, move it away there, and publish again. All other files have arrived.',
      data: { paths },
    },
  );
}
