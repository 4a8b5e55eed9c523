import { resolve } from 'node:path';
import { requireFolder } from '../platform/folders.ts';
import { describePlace } from '../platform/project.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { findNewestHandover } from '../store/find-handover.ts';
import type { Store } from '../store/store.ts';
import { type Snapshot, type SnapshotLabels, writeSnapshot } from './snapshot.ts';

/** Writes HANDOFF.md of a folder, from the newest handover of its project and from what git says now. */
export async function takeSnapshot(store: Store, folder: string, labels: SnapshotLabels): Promise<Snapshot> {
  const { machine } = store;
  const real = requireFolder(resolve(machine.cwd, folder));
  const place = describePlace(real, machine);
  const handover = await findNewestHandover(store, place.project.id);
  const redactor = openRedactor(machine, { folder: real, makesKey: true });
  return writeSnapshot(
    store,
    { folder: real, project: place.project.id },
    { at: machine.clock.now(), ...labels, place, handover, redactor },
  );
}
