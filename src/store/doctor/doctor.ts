import { basename, join } from 'node:path';
import { isFailure } from '../../errors.ts';
import { withCacheLock } from '../../platform/cache-writer.ts';
import { pathExists } from '../../platform/folders.ts';
import { withLock } from '../../platform/lock.ts';
import { inspectClaims } from '../../platform/lock-claim.ts';
import { type Machine, readRuntimeVersion } from '../../platform/machine.ts';
import { loadSqlDriver, type SqlDriver } from '../../platform/sqlite.ts';
import { CREATION_LOCK, withCreationLock } from '../handovers.ts';
import { INDEX } from '../index-schema.ts';
import { LOCKS, type Store, WORKER_LOCK_PREFIX } from '../store.ts';
import { type CheckProgress, checkFiles, type Finding, type FixedFinding } from './check-files.ts';
import { checkCaches, checkIndex } from './check-index.ts';
import { checkJournal } from './check-journal.ts';

export interface Examination {
  root: string;
  handovers: number;
  intact: number;
  /** Written by a newer version: neither intact nor damaged. */
  newer: number;
  journalEntries: number;
  sqlite: string;
  findings: Finding[];
}

/** Checks everything and changes nothing but the index, which is a cache. */
export async function examineStore(store: Store, progress?: CheckProgress): Promise<Examination> {
  const { root, machine } = store;
  const driver = loadSqlDriver(machine.env.HANDOVER_SQLITE);
  const sqlite = driver?.name ?? 'none';
  const surroundings = checkEnvironment(machine, driver);
  if (!pathExists(root))
    return { root, handovers: 0, intact: 0, newer: 0, journalEntries: 0, sqlite, findings: surroundings };
  const files = checkFiles(store, progress);
  const damagedPaths = new Set(files.findings.map((finding) => finding.path).filter((path) => path !== null));
  const journal = checkJournal(store, files.intact, damagedPaths);
  // Before the index: taking its lock clears away claims that make no sense.
  const locks = checkLocks(store);
  const index = driver === null ? [] : checkIndex(store, driver, files.intact);
  const caches = checkCaches(store, driver);
  return {
    root,
    handovers: files.handoverFiles,
    intact: files.intact.size,
    newer: files.newer,
    journalEntries: journal.entries,
    sqlite,
    findings: [...files.findings, ...journal.findings, ...locks, ...index, ...caches, ...surroundings],
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
      if (!isFailure(error)) throw error;
      return { ...finding, message: `${finding.message} (not fixed: ${error.message})`, fixed: false };
    }
  });
}

function checkLocks(store: Store): Finding[] {
  return inspectClaims(join(store.root, LOCKS)).map(({ path, problem }) => {
    const [name = ''] = basename(path).split('.', 1);
    const message = `${path} is damaged: ${problem}. It blocks nobody: the next to take the lock removes it`;
    const remedy = { description: 'take the lock once, which removes it', apply: () => takeLock(store, name) };
    return { code: 'damaged-claim', level: 'warning', path, message, remedy };
  });
}

const LOCK_WAIT_MS = 2000;

function takeLock(store: Store, name: string): void {
  const lock = { folder: join(store.root, LOCKS), name, waitMs: LOCK_WAIT_MS, clock: store.machine.clock };
  if (name === CREATION_LOCK) withCreationLock(store, () => undefined);
  else if (!name.startsWith(WORKER_LOCK_PREFIX)) withCacheLock(store, INDEX, () => undefined);
  else withLock(lock, () => undefined);
}

/** Node before 22 reads the whole certificate store at every start when NODE_EXTRA_CA_CERTS is set: 45 ms and more. */
const FIRST_NODE_WITH_LAZY_CERTIFICATES = 22;

function checkEnvironment(machine: Machine, driver: SqlDriver | null): Finding[] {
  const findings: Finding[] = [];
  const add = (code: string, message: string): void => {
    findings.push({ code, level: 'notice', path: null, message, remedy: null });
  };
  if (machine.env.NODE_EXTRA_CA_CERTS && readRuntimeVersion() < FIRST_NODE_WITH_LAZY_CERTIFICATES)
    add(
      'slow-start',
      'NODE_EXTRA_CA_CERTS is set, which makes every start of this Node about 50 ms slower; Node 22 and later are not affected',
    );
  if (driver === null && machine.env.HANDOVER_SQLITE !== 'none')
    add(
      'no-index',
      'this Node has no SQLite, so lists are read from the files; Node 22 has it, or install handover again with its optional packages',
    );
  return findings;
}
