import { join } from 'node:path';
import { compareCodeUnits, sha256Hex } from '../model/hash.ts';
import { formatIdTime } from '../model/id.ts';
import { formatTimestamp } from '../model/time.ts';
import { createFileDurably, writeFileDurably } from '../platform/durable-file.ts';
import { ensurePrivateFolder, listFolder, pathExists } from '../platform/folders.ts';
import { appendEntry, nextTimestamp } from './journal.ts';
import { DOCUMENTS, QUARANTINE, type Store } from './store.ts';

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
  const at = formatTimestamp(nextTimestamp(store));
  const subject = `${QUARANTINE}/${name}`;
  appendEntry(store, { at, event: 'quarantined', subject, reason, detail: { from, stored: name } });
  writeFileDurably(path, bytes);
}

/** A file of a project, of which earlier contents are kept: HANDOFF.md, SOUL.md … */
export interface DocumentName {
  project: string;
  name: string;
}

/** Keeps the content of a document before another takes its place. The same content is kept once. */
export function saveDocumentCopy(store: Store, { project, name }: DocumentName, bytes: Uint8Array): string {
  const folder = ensurePrivateFolder(store.root, DOCUMENTS, project, name);
  const digest = sha256Hex(bytes).slice(0, 12);
  const known = listFolder(folder).find((file) => file.endsWith(`-${digest}.md`));
  if (known !== undefined) return join(folder, known);
  const path = join(folder, `${formatIdTime(store.machine.clock.now())}-${digest}.md`);
  createFileDurably(path, bytes);
  return path;
}

/** The paths of what was kept, oldest first. */
export function listDocumentCopies(store: Store, { project, name }: DocumentName): string[] {
  const folder = join(store.root, DOCUMENTS, project, name);
  return listFolder(folder)
    .filter((file) => file.endsWith('.md'))
    .sort(compareCodeUnits)
    .map((file) => join(folder, file));
}
