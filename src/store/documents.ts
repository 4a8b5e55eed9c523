import { join } from 'node:path';
import { compareCodeUnits, sha256Hex } from '../model/hash.ts';
import { formatIdTime } from '../model/id.ts';
import { createFileDurably } from '../platform/durable-file.ts';
import { ensurePrivateFolder, listFolder } from '../platform/folders.ts';
import { DOCUMENTS, type Store } from './store.ts';

/** A file of a project, of which earlier contents are kept: HANDOFF.md, SOUL.md … */
export interface DocumentName {
  project: string;
  name: string;
}

/** Keeps the content of a document before another takes its place. The same content is kept once. */
export function keepDocument(store: Store, { project, name }: DocumentName, bytes: Uint8Array): string {
  const folder = ensurePrivateFolder(store.root, DOCUMENTS, project, name);
  const digest = sha256Hex(bytes).slice(0, 12);
  const known = listFolder(folder).find((file) => file.endsWith(`-${digest}.md`));
  if (known !== undefined) return join(folder, known);
  const path = join(folder, `${formatIdTime(store.machine.clock.now())}-${digest}.md`);
  createFileDurably(path, bytes);
  return path;
}

/** The paths of what was kept, oldest first. */
export function listDocuments(store: Store, { project, name }: DocumentName): string[] {
  const folder = join(store.root, DOCUMENTS, project, name);
  return listFolder(folder)
    .filter((file) => file.endsWith('.md'))
    .sort(compareCodeUnits)
    .map((file) => join(folder, file));
}
