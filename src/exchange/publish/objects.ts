import { HandoverError } from '../../errors.ts';
import { sha256Hex } from '../../model/hash.ts';
import type { Backend } from '../../platform/publish-settings.ts';
import { type PublishRoute, readPublishState, withDestinationLock, writePublishState } from './publish-state.ts';
import type { Change, OutgoingFile, Publication, Publisher } from './publisher.ts';

/** Bytes under paths, with versions that change whenever the bytes do. */
export interface ObjectStore {
  readonly backend: Backend;
  readonly destination: string;
  /** Throws when the destination is known to be missing without contacting it. */
  assertPresent?(): void;
  /** The versions of all objects, by path. */
  list(): Promise<ReadonlyMap<string, string>>;
  read(path: string): Promise<{ bytes: Uint8Array; version: string } | null>;
  /** Returns the new version; null, with nothing changed, unless the present one is `expected` (null: no object). */
  write(path: string, bytes: Uint8Array, expected: string | null): Promise<string | null>;
  /** Notes for the user about the given paths. */
  inspect(paths: readonly string[]): Promise<string[]>;
}

/** Publishes each file as an object. Never overwrites the changes of others, and deletes nothing. */
export function publishObjects(store: ObjectStore, route: PublishRoute): Publisher {
  const { backend, destination } = store;
  return {
    backend,
    destination,
    plan: async ({ files }) => {
      store.assertPresent?.();
      const state = readPublishState(route);
      const changes = files
        .filter(({ path, bytes }) => state.get(path)?.sha256 !== sha256Hex(bytes))
        .map((file) => describeChange(file, !state.has(file.path)));
      return { changes, waiting: [], notes: [] };
    },
    publish: async ({ files }) => await withDestinationLock(route, () => sendObjects(store, files, route)),
  };
}

function describeChange({ path, bytes }: OutgoingFile, isNew: boolean): Change {
  return { path, change: isNew ? 'new' : 'changed', bytes: bytes.length };
}

async function sendObjects(store: ObjectStore, files: readonly OutgoingFile[], route: PublishRoute) {
  const known = readPublishState(route);
  const versions = await store.list();
  const state = new Map(known);
  const changes: Change[] = [];
  const conflicts: string[] = [];
  const send = async (file: OutgoingFile): Promise<void> => {
    const { path, bytes } = file;
    const [entry, version] = [known.get(path), versions.get(path)];
    const sha256 = sha256Hex(bytes);
    const isOurs = entry !== undefined && entry.version === version;
    if (isOurs && entry.sha256 === sha256) return;
    if (version === undefined || isOurs) {
      const written = await store.write(path, bytes, version ?? null);
      if (written !== null) {
        state.set(path, { sha256, version: written });
        changes.push(describeChange(file, version === undefined));
        return;
      }
    }
    const present = await store.read(path);
    if (present === null || sha256Hex(present.bytes) !== sha256) conflicts.push(path);
    else state.set(path, { sha256, version: present.version });
  };
  try {
    for (const file of files) await send(file);
  } finally {
    writePublishState(route, state);
  }
  if (conflicts.length > 0) throw conflictError(conflicts, store.destination);
  const notes = await store.inspect(files.map(({ path }) => path));
  const outcome: Publication['outcome'] = changes.length === 0 ? 'nothing new' : 'published';
  return { outcome, changes, commit: null, notes };
}

function conflictError(paths: readonly string[], destination: string): HandoverError {
  const [first = ''] = paths;
  const isOne = paths.length === 1;
  const which = isOne ? `${first} was` : `${first} and ${paths.length - 1} more were`;
  const message = `${which} changed by somebody else in ${destination} and ${isOne ? 'was' : 'were'} not overwritten`;
  return new HandoverError('HANDOVER_PUBLISH_CONFLICT', message, {
    hint: 'Copy what you need into your own file, move the other one away, and publish again. All other files were published.',
    data: { paths },
  });
}
