import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalEntry } from '../../src/model/journal-entry.ts';
import { listFiles } from './tree.ts';

/** All entries of a store's journal, as they were written. */
export function readJournal(store: string): JournalEntry[] {
  return listFiles(join(store, 'journal')).flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line): JournalEntry => JSON.parse(line)),
  );
}
