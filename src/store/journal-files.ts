import { join } from 'node:path';
import { listFolder } from '../platform/folders.ts';
import { JOURNAL, type Store } from './store.ts';

const JOURNAL_NAME = /^\d{4}-\d{2}\.jsonl$/;

/** The journal's files, oldest first. */
export function listJournalFiles(store: Store): string[] {
  const folder = join(store.root, JOURNAL);
  return listFolder(folder)
    .filter((name) => JOURNAL_NAME.test(name))
    .sort()
    .map((name) => join(folder, name));
}
