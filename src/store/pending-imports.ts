import { join } from 'node:path';
import * as v from 'valibot';
import { HandoverError, hasErrno } from '../errors.ts';
import { formatHandover } from '../handover/seal.ts';
import { Handover } from '../model/handover.ts';
import { computeChecksum } from '../model/hash.ts';
import { parseJson } from '../model/json.ts';
import { HandoverId } from '../model/scalars.ts';
import { formatTimestamp } from '../model/time.ts';
import { CACHES_OF_FEATURES, isCacheTrouble } from '../platform/cache-database.ts';
import { dropCache } from '../platform/cache-writer.ts';
import {
  createFileDurably,
  moveFileDurably,
  readRegularFile,
  removeFile,
  syncFolder,
  writeFileDurably,
} from '../platform/durable-file.ts';
import { ensurePrivateFolder, listFolder } from '../platform/folders.ts';
import { loadSqlDriver } from '../platform/sqlite.ts';
import { setCopyAside } from './copies.ts';
import { createHandoverFile, readHandover, withCreationLock } from './handovers.ts';
import { rebuildIndex } from './index-writer.ts';
import { appendEntry, nextTimestamp } from './journal.ts';
import { ARRIVING, HANDOVERS, monthOf, pathOfHandover, QUARANTINE, type Store } from './store.ts';

/** Handovers that come in together, or not at all. */
const PendingImport = v.strictObject({
  schema: v.literal('arrival/1'),
  /** Names what came in, in the journal. */
  digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  /** What is to be remembered of it. */
  detail: v.record(v.string(), v.unknown()),
  handovers: v.array(Handover),
  /** Ids that may take the place of what is there. */
  replace: v.array(HandoverId),
  checksum: v.string(),
});
type PendingImport = v.InferOutput<typeof PendingImport>;
export type ImportDraft = Omit<PendingImport, 'schema' | 'checksum'>;

const MAX_BYTES = 256 * 1024 * 1024;
const LIMITS = { maxBytes: MAX_BYTES, maxDepth: 80 };

export function isPendingImportName(name: string): boolean {
  return /^[0-9a-f]{64}\.json$/.test(name);
}

/**
 * Keeps all of the handovers or none. The commit point is the appearance of one file that holds them all; whoever opens
 * the catalog next puts them in their places, if this process is stopped before it has.
 */
export function saveImport(store: Store, draft: ImportDraft): void {
  const arrival = { schema: 'arrival/1', ...draft } as const;
  const folder = ensurePrivateFolder(store.root, ARRIVING);
  const text = JSON.stringify({ ...arrival, checksum: computeChecksum(arrival) });
  createFileDurably(join(folder, `${draft.digest}.json`), text, (work) => withCreationLock(store, work));
  finishImports(store);
}

/** Puts what has come in in its place. Any number of processes may do so at once, and as often as they like. */
export function finishImports(store: Store): void {
  const folder = join(store.root, ARRIVING);
  for (const name of listFolder(folder).filter(isPendingImportName)) {
    const arrival = readPendingImport(join(folder, name));
    if (arrival === null) continue;
    if (arrival === 'damaged') setAside(store, name);
    else finishImport(store, arrival, join(folder, name));
  }
}

function finishImport(store: Store, arrival: PendingImport, path: string): void {
  const replaced = arrival.handovers.filter((handover) => place(store, handover, arrival.replace));
  if (replaced.length > 0) refreshIndex(store);
  const { digest, detail } = arrival;
  appendEntry(store, { at: now(store), event: 'received', subject: digest, detail });
  removeFile(path);
  syncFolder(join(store.root, ARRIVING));
}

/** Caches read a handover once: they do not see that another stands in its place. */
function refreshIndex(store: Store): void {
  for (const name of CACHES_OF_FEATURES) dropCache(store, { name });
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  try {
    if (driver !== null) rebuildIndex(store, driver);
  } catch (cause) {
    if (!isCacheTrouble(cause)) throw cause;
    throw new HandoverError('HANDOVER_IO', 'the index could not be built anew', {
      hint: 'What came is kept. When the disk is in order again: handover list',
      cause,
    });
  }
}

/** True when it took the place of another. */
function place(store: Store, handover: Handover, replace: readonly string[]): boolean {
  const before = readOrNull(store, handover.id);
  if (before?.checksum === handover.checksum) {
    note(store, handover);
    return replace.includes(handover.id);
  }
  if (before === null && createHandoverFile(store, handover)) {
    note(store, handover);
    return false;
  }
  if (!replace.includes(handover.id)) return false;
  if (before !== null) keepReplaced(store, before);
  ensurePrivateFolder(store.root, HANDOVERS, ...monthOf(handover.id));
  writeFileDurably(pathOfHandover(store, handover.id), formatHandover(handover));
  note(store, handover);
  return true;
}

function note(store: Store, { id, checksum }: Handover): void {
  appendEntry(store, { at: now(store), event: 'imported', subject: id, detail: { checksum } });
}

/** What was there is never lost: it goes where a person can find it. */
function keepReplaced(store: Store, handover: Handover): void {
  setCopyAside(store, {
    name: `replaced-${handover.checksum.slice(0, 16)}-${handover.id}.json`,
    bytes: Buffer.from(formatHandover(handover)),
    from: handover.id,
    reason: 'replaced by an import',
  });
}

function setAside(store: Store, name: string): void {
  const folder = ensurePrivateFolder(store.root, QUARANTINE);
  const subject = `${ARRIVING}/${name}`;
  appendEntry(store, {
    at: now(store),
    event: 'quarantined',
    subject,
    reason: 'damaged',
    detail: { stored: name },
  });
  moveFileDurably(join(store.root, ARRIVING, name), join(folder, name));
}

/** A damaged one counts as none: it is not among what is kept. */
function readOrNull(store: Store, id: string): Handover | null {
  try {
    return readHandover(store, id);
  } catch (error) {
    if (error instanceof HandoverError) return null;
    throw error;
  }
}

function readPendingImport(path: string): PendingImport | 'damaged' | null {
  try {
    const value = parseJson(readRegularFile(path, MAX_BYTES).toString('utf8'), path, LIMITS);
    const result = v.safeParse(PendingImport, value);
    return result.success && result.output.checksum === computeChecksum(result.output)
      ? result.output
      : 'damaged';
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    if (error instanceof HandoverError || error instanceof TypeError) return 'damaged';
    throw error;
  }
}

function now(store: Store): string {
  return formatTimestamp(nextTimestamp(store));
}
