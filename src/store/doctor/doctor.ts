import { HandoverError, isErrno } from '../../errors.ts';
import { pathExists } from '../../platform/folders.ts';
import { loadSqlDriver } from '../../platform/sqlite.ts';
import type { Store } from '../store.ts';
import { type CheckProgress, checkFiles } from './check-files.ts';
import { checkCaches, checkIndex } from './check-index.ts';
import { checkJournal } from './check-journal.ts';
import { checkLocks } from './check-locks.ts';
import { checkSurroundings } from './check-surroundings.ts';
import type { Finding, FixedFinding } from './finding.ts';

export interface Examination {
  root: string;
  handovers: number;
  intact: number;
  journalEntries: number;
  sqlite: string;
  findings: Finding[];
}

/** Looks at everything and changes nothing but the index, which is a cache. */
export async function examineStore(store: Store, progress?: CheckProgress): Promise<Examination> {
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  const surroundings = checkSurroundings(store.machine, driver);
  const empty = {
    root: store.root,
    handovers: 0,
    intact: 0,
    journalEntries: 0,
    sqlite: driver?.name ?? 'none',
  };
  if (!pathExists(store.root)) return { ...empty, findings: surroundings };
  const files = checkFiles(store, progress);
  const damagedPaths = new Set(files.findings.map((finding) => finding.path).filter((path) => path !== null));
  const journal = checkJournal(store, files.intact, damagedPaths);
  const locks = checkLocks(store);
  const index = driver === null ? [] : checkIndex(store, driver, files.intact);
  return {
    ...empty,
    handovers: files.handoverFiles,
    intact: files.intact.size,
    journalEntries: journal.entries,
    findings: [
      ...files.findings,
      ...journal.findings,
      ...locks,
      ...index,
      ...checkCaches(store, driver),
      ...surroundings,
    ],
  };
}

/** Applies every remedy that is safe. One that fails leaves its finding unfixed and does not stop the others. */
export function fixFindings(store: Store, findings: readonly Finding[]): FixedFinding[] {
  return findings.map((finding) => {
    if (finding.remedy === null) return { ...finding, fixed: false };
    try {
      finding.remedy.apply(store);
      return { ...finding, fixed: true };
    } catch (error) {
      if (!isErrno(error) && !(error instanceof HandoverError)) throw error;
      return { ...finding, message: `${finding.message} (not fixed: ${error.message})`, fixed: false };
    }
  });
}
