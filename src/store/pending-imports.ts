import { join } from 'node:path';
import * as v from 'valibot';
import { HandoverError, hasErrno } from '../errors.ts';
import { formatHandover } from '../handover/seal.ts';
import { Handover } from '../model/handover.ts';
import { computeChecksum } from '../model/hash.ts';
import { parseJson } from '../model/json.ts';
import { HandoverId } from '../model/scalars.ts';
import { CACHES_OF_FEATURES, isCacheTrouble } from '../platform/cache-database.ts';
import { dropCache } from '../platform/cache-writer.ts';
import {
  createFileDurably,
  readRegularFile,
  removeFile,
  syncFolder,
  writeFileDurably,
} from '../platform/durable-file.ts';
import { ensurePrivateFolder, listFolder } from '../platform/folders.ts';
import { loadSqlDriver } from '../platform/sqlite.ts';
import { quarantineCopy, quarantineFile } from './copies.ts';
import { createHandoverFile, readIntact, withCreationLock } from './handovers.ts';
import { rebuildIndex } from './index-writer.ts';
import { appendEntry } from './journal.ts';
import { HANDOVERS, monthOf, PENDING_IMPORTS, pathOfHandover, type Store } from './store.ts';

/** Handovers that are imported together, or not at all. */
const PendingImport = v.strictObject({
  schema: v.literal('arrival/1'),
  /** Names the import in the journal. */
  digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  detail: v.record(v.string(), v.unknown()),
  handovers: v.array(Handover),
  /** Ids whose handovers may be replaced. */
  replace: v.array(HandoverId),
  checksum: v.string(),
});
type PendingImport = v.InferOutput<typeof PendingImport>;

const LIMITS = { maxBytes: 256 * 1024 * 1024, maxDepth: 80 };

export function isPendingImportName(name: string): boolean {
  return /^[0-9a-f]{64}\.json$/.test(name);
}

/** Saves all or none: a file with all of them is the commit point, and opening the catalog finishes a pending import. */
export function saveImport(store: Store, draft: Omit<PendingImport, 'schema' | 'checksum'>): void {
  const pending = { schema: 'arrival/1', ...draft } as const;
  const folder = ensurePrivateFolder(store.root, PENDING_IMPORTS);
  const text = JSON.stringify({ ...pending, checksum: computeChecksum(pending) });
  createFileDurably(join(folder, `${draft.digest}.json`), text, {
    takeTurns: (work) => withCreationLock(store, work),
  });
  finishImports(store);
}

/** Puts imported handovers in their places. Any number of processes may do so at once, any number of times. */
export function finishImports(store: Store): void {
  const folder = join(store.root, PENDING_IMPORTS);
  for (const name of listFolder(folder).filter(isPendingImportName)) {
    const path = join(folder, name);
    const pending = readPendingImport(path);
    if (pending === 'damaged') quarantineFile(store, path, { reason: 'damaged', name });
    else if (pending !== null) finishImport(store, pending, path);
  }
}

function finishImport(store: Store, pending: PendingImport, path: string): void {
  const { handovers, replace, digest, detail } = pending;
  const replaced = handovers.filter((handover) => placeHandover(store, handover, replace));
  if (replaced.length > 0) refreshIndex(store);
  appendEntry(store, { event: 'received', subject: digest, detail });
  removeFile(path);
  syncFolder(join(store.root, PENDING_IMPORTS));
}

/** Caches read a handover once, and do not see that it was replaced. */
function refreshIndex(store: Store): void {
  for (const name of CACHES_OF_FEATURES) dropCache(store, { name });
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  try {
    if (driver !== null) rebuildIndex(store, driver);
  } catch (cause) {
    if (!isCacheTrouble(cause)) throw cause;
    throw new HandoverError('HANDOVER_IO', 'the handovers are imported, but the index could not be rebuilt', {
      hint: 'Check the disk, then run: handover list',
      cause,
    });
  }
}

/** True when it replaced another. A damaged handover counts as none. */
function placeHandover(store: Store, handover: Handover, replace: readonly string[]): boolean {
  const { id, checksum } = handover;
  const before = readIntact(store, id);
  const mayReplace = replace.includes(id);
  const isThere = before?.checksum === checksum;
  const isCreated = before === null && createHandoverFile(store, handover);
  if (!isThere && !isCreated) {
    if (!mayReplace) return false;
    if (before !== null) {
      quarantineCopy(store, {
        name: `replaced-${before.checksum.slice(0, 16)}-${id}.json`,
        bytes: Buffer.from(formatHandover(before)),
        from: id,
        reason: 'replaced by an import',
      });
    }
    ensurePrivateFolder(store.root, HANDOVERS, ...monthOf(id));
    writeFileDurably(pathOfHandover(store, id), formatHandover(handover));
  }
  appendEntry(store, { event: 'imported', subject: id, detail: { checksum } });
  return mayReplace && !isCreated;
}

function readPendingImport(path: string): PendingImport | 'damaged' | null {
  try {
    const value = parseJson(readRegularFile(path, LIMITS.maxBytes).toString('utf8'), path, LIMITS);
    const { success, output } = v.safeParse(PendingImport, value);
    return success && output.checksum === computeChecksum(output) ? output : 'damaged';
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    if (error instanceof HandoverError || error instanceof TypeError) return 'damaged';
    throw error;
  }
}
