import { join } from 'node:path';
import * as v from 'valibot';
import type { HookedAgent } from '../../agents/hook-input.ts';
import { catchIf, hasCode, hasErrno } from '../../errors.ts';
import { sha256Hex, shortHash } from '../../model/hash.ts';
import { parseJson } from '../../model/json.ts';
import { readRegularFile, removeFile, writeFileDurably } from '../../platform/durable-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { HOOK_RECEIPTS, type Store } from '../../store/store.ts';

/** The backup of a file from before hooks were put into it, from which an uninstall restores every byte. */
export interface Receipt {
  path: string;
  /** Null when there was no file. */
  before: Buffer | null;
  /** The digest of what we wrote. */
  after: string;
  /** The folders that were created for the file, the innermost first. */
  folders: string[];
  /** The trust hashes that the agent had recorded for hooks which we have changed since. */
  outdatedTrust: string[];
}

const receiptSchema = v.object({
  schema: v.literal('hook-install/1'),
  agent: v.string(),
  path: v.string(),
  before: v.nullable(v.pipe(v.string(), v.base64())),
  before_sha256: v.nullable(v.string()),
  after_sha256: v.string(),
  folders: v.array(v.string()),
  outdated_trust: v.array(v.string()),
});

const MAX_BYTES = 32 * 1024 * 1024;

/** Null when there is none, or only a damaged one, which is never restored. */
export function findReceipt(store: Store, agent: HookedAgent, path: string): Receipt | null {
  const read = readReceipt(pathOfReceipt(store, agent, path));
  if (read === null || read.path !== path) return null;
  const before = read.before === null ? null : Buffer.from(read.before, 'base64');
  if ((before === null ? null : sha256Hex(before)) !== read.before_sha256) return null;
  const { after_sha256: after, folders, outdated_trust: outdatedTrust } = read;
  return { path, before, after, folders, outdatedTrust };
}

/** To be called before the file itself is written: without it not every byte can be restored. */
export function saveReceipt(store: Store, agent: HookedAgent, receipt: Receipt): void {
  ensurePrivateFolder(store.root, HOOK_RECEIPTS);
  const { path, before, after, folders, outdatedTrust } = receipt;
  const record: v.InferOutput<typeof receiptSchema> = {
    schema: 'hook-install/1',
    agent,
    path,
    before: before?.toString('base64') ?? null,
    before_sha256: before === null ? null : sha256Hex(before),
    after_sha256: after,
    folders,
    outdated_trust: outdatedTrust,
  };
  writeFileDurably(pathOfReceipt(store, agent, path), `${JSON.stringify(record, null, 2)}\n`);
}

/** Settings can hold keys and tokens: the copy is deleted once it has no use. */
export function removeReceipt(store: Store, agent: HookedAgent, path: string): void {
  removeFile(pathOfReceipt(store, agent, path));
}

function pathOfReceipt(store: Store, agent: HookedAgent, path: string): string {
  return join(store.root, HOOK_RECEIPTS, `${agent}-${shortHash(path, 16)}.json`);
}

function readReceipt(path: string): v.InferOutput<typeof receiptSchema> | null {
  const isUnusable = (error: unknown): boolean => hasErrno(error, 'ENOENT') || hasCode(error, 'HANDOVER_JSON_INVALID');
  return catchIf(isUnusable, null, () => {
    const text = readRegularFile(path, MAX_BYTES).toString('utf8');
    const json = parseJson(text, path, { maxBytes: MAX_BYTES, maxDepth: 4 });
    return v.is(receiptSchema, json) ? json : null;
  });
}
