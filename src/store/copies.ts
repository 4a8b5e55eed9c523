import { basename, join, relative, sep } from 'node:path';
import { compareCodeUnits, sha256Hex } from '../model/hash.ts';
import { formatIdTime } from '../model/id.ts';
import { formatTimestamp } from '../model/time.ts';
import { createFileDurably, moveFileDurably, writeFileDurably } from '../platform/durable-file.ts';
import { ensurePrivateFolder, listFolder, pathExists } from '../platform/folders.ts';
import { appendEntry, nextTimestamp } from './journal.ts';
import { DOCUMENTS, QUARANTINE, type Store } from './store.ts';

export interface QuarantinedCopy {
  /** Derived from the content, so that the same bytes are set aside once. */
  name: string;
  bytes: Uint8Array;
  from: string;
  reason: string;
}

/** Writes a copy of refused or replaced bytes into quarantine, unless it is there, and records why in the journal. */
export function quarantineCopy(store: Store, { name, bytes, from, reason }: QuarantinedCopy): void {
  const path = join(ensurePrivateFolder(store.root, QUARANTINE), name);
  if (pathExists(path)) return;
  const subject = `${QUARANTINE}/${name}`;
  appendEntry(store, { event: 'quarantined', subject, reason, detail: { from, stored: name } });
  writeFileDurably(path, bytes);
}

/** Moves a file of the store into quarantine, under a free name unless one is given, and records it in the journal. */
export function quarantineFile(store: Store, path: string, { reason, name }: { reason: string; name?: string }): void {
  const folder = ensurePrivateFolder(store.root, QUARANTINE);
  const at = formatTimestamp(nextTimestamp(store));
  const subject = relative(store.root, path).split(sep).join('/');
  const stored = name ?? `${at.replace(/[:.]/g, '')}-${basename(path)}`;
  appendEntry(store, { at, event: 'quarantined', subject, reason, detail: { stored } });
  moveFileDurably(path, join(folder, stored));
}

/** A file of a project whose earlier contents are saved: HANDOFF.md, SOUL.md … */
export type DocumentName = { project: string; name: string };

/** Saves the content of a document before another replaces it. The same content is saved once. Returns the path. */
export function saveDocumentCopy(store: Store, { project, name }: DocumentName, bytes: Uint8Array): string {
  const folder = ensurePrivateFolder(store.root, DOCUMENTS, project, name);
  const digest = sha256Hex(bytes).slice(0, 12);
  const known = listFolder(folder).find((file) => file.endsWith(`-${digest}.md`));
  if (known !== undefined) return join(folder, known);
  const path = join(folder, `${formatIdTime(store.machine.clock.now())}-${digest}.md`);
  createFileDurably(path, bytes);
  return path;
}

/** The paths of the copies of a document, oldest first. */
export function listDocumentCopies(store: Store, { project, name }: DocumentName): string[] {
  const folder = join(store.root, DOCUMENTS, project, name);
  const files = listFolder(folder).filter((file) => file.endsWith('.md'));
  return files.sort(compareCodeUnits).map((file) => join(folder, file));
}
