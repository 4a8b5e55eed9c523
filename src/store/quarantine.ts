import { join } from 'node:path';
import { formatTimestamp } from '../model/time.ts';
import { writeFileDurably } from '../platform/durable-file.ts';
import { ensurePrivateFolder, pathExists } from '../platform/folders.ts';
import { appendEntry } from './journal.ts';
import { nextMoment } from './moment.ts';
import { QUARANTINE, type Store } from './store.ts';

export interface RefusedCopy {
  /** Told by its content, so that the same is set aside once. */
  name: string;
  bytes: Uint8Array;
  /** What it was a copy of. */
  from: string;
  reason: string;
}

/** Keeps a copy of what was refused, and notes why. What is there already is left as it is. */
export function setCopyAside(store: Store, { name, bytes, from, reason }: RefusedCopy): void {
  const path = join(ensurePrivateFolder(store.root, QUARANTINE), name);
  if (pathExists(path)) return;
  const at = formatTimestamp(nextMoment(store));
  const subject = `${QUARANTINE}/${name}`;
  appendEntry(store, { at, event: 'quarantined', subject, reason, detail: { from, stored: name } });
  writeFileDurably(path, bytes);
}
