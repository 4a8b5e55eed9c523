import type { HookedAgent } from '../../agents/hook-input.ts';
import { type HookFile, type HookHost, holdsHooks, holdsServer } from '../../agents/hook-setup.ts';
import { HandoverError } from '../../errors.ts';
import { sha256Hex } from '../../model/hash.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { withLock } from '../../platform/lock.ts';
import * as sharedFiles from '../../platform/shared-file.ts';
import { LOCKS, type Store } from '../../store/store.ts';
import { addEntries, holdsOnlySkeleton, removeEntries } from './entries.ts';
import { listTrustedHashes } from './hook-trust.ts';
import { decode } from './json-text.ts';
import { findReceipt, type Receipt, removeReceipt, saveReceipt } from './receipts.ts';
import { addTable, removeTable } from './server-table.ts';
import { type HookSite, listHookFiles, listHosts } from './targets.ts';

export interface HookRequest extends HookSite {
  agents: readonly HookedAgent[];
  dryRun: boolean;
}

export interface HookChange {
  agent: HookedAgent;
  path: string;
  holds: 'hooks' | 'mcp' | 'hooks and mcp';
  change: 'created' | 'changed' | 'removed' | 'unchanged';
}

type Direction = 'install' | 'uninstall';

const LOCK_WAIT_MS = 10_000;

export const installHooks = (store: Store, request: HookRequest) => changeHooks(store, request, 'install');
export const uninstallHooks = (store: Store, request: HookRequest) => changeHooks(store, request, 'uninstall');

/** Everything is planned before anything is written: an error in one file leaves all of them as they are. */
function changeHooks(store: Store, request: HookRequest, direction: Direction): HookChange[] {
  if (request.dryRun) return planAll(store, request, direction).map(describeChange);
  const folder = ensurePrivateFolder(store.root, LOCKS);
  return withLock({ folder, name: 'hooks', waitMs: LOCK_WAIT_MS, clock: store.machine.clock }, () => {
    const steps = planAll(store, request, direction);
    for (const step of steps) apply(store, step, direction);
    return steps.map(describeChange);
  });
}

interface Step {
  host: HookHost;
  file: HookFile;
  read: sharedFiles.SharedFile | null;
  /** The folders that were or will be created for the file. */
  folders: string[];
  /** The content after an uninstall. */
  without: Buffer | null;
  next: Buffer | null;
}

function planAll(store: Store, request: HookRequest, direction: Direction): Step[] {
  return listHosts(request.agents).flatMap((host) =>
    listHookFiles(host, store.machine, request).map((file) => {
      const read = sharedFiles.readSharedFile(file.path);
      const receipt = findReceipt(store, file.agent, file.path);
      const bytes = read?.bytes ?? null;
      const without = planUninstall(file, bytes, receipt);
      const next = direction === 'install' ? planInstall(file, bytes) : without;
      const folders = read === null ? sharedFiles.listMissingFolders(file.path) : (receipt?.folders ?? []);
      if (read !== null && nameChange(read.bytes, next) !== 'unchanged') sharedFiles.assertWritable(read);
      return { host, file, read, folders, without, next };
    }),
  );
}

function planInstall(file: HookFile, bytes: Buffer | null): Buffer {
  const text = bytes === null ? null : decode(bytes, file.path);
  if (file.kind === 'entries') return Buffer.from(addEntries(file, text));
  if (file.kind === 'table') return Buffer.from(addTable(file, text));
  if (text === null || file.parse(text) !== null) return Buffer.from(file.content);
  const hint = 'Nothing was changed. Rename it, or leave the agent out by naming others with --agent.';
  throw new HandoverError('HANDOVER_PATH_UNSAFE', `${file.path} exists already and is not ours`, { hint });
}

/** Everything of ours starts one of these: a file without them is not parsed. */
const OURS = ['hook.cjs', 'handover.cjs'];

/** The content after an uninstall; null for no file. Exactly the original if nobody changed the file since; else the present content without our part. */
function planUninstall(file: HookFile, bytes: Buffer | null, receipt: Receipt | null): Buffer | null {
  if (bytes === null) return null;
  if (receipt !== null && receipt.after === sha256Hex(bytes)) return receipt.before;
  if (file.kind === 'whole') return file.parse(bytes.toString('utf8')) === null ? bytes : null;
  if (!OURS.some((name) => bytes.includes(name))) return bytes;
  const text = decode(bytes, file.path);
  if (file.kind === 'table') {
    const rest = removeTable(file, text);
    return rest === '' && receipt?.before === null ? null : Buffer.from(rest);
  }
  const before = receipt?.before ?? null;
  const rest = removeEntries(file, text, before === null ? null : decode(before, file.path));
  if (rest === text) return bytes;
  const wasCreated = receipt === null ? Object.keys(file.skeleton).length > 0 : receipt.before === null;
  return wasCreated && holdsOnlySkeleton(file, rest) ? null : Buffer.from(rest);
}

function describeChange({ file, read, next }: Step): HookChange {
  const { agent, path } = file;
  const holds = !holdsServer(file) ? 'hooks' : holdsHooks(file) ? 'hooks and mcp' : 'mcp';
  return { agent, path, holds, change: nameChange(read?.bytes ?? null, next) };
}

function nameChange(bytes: Buffer | null, next: Buffer | null): HookChange['change'] {
  if (bytes === null) return next === null ? 'unchanged' : 'created';
  if (next === null) return 'removed';
  return bytes.equals(next) ? 'unchanged' : 'changed';
}

function apply(store: Store, step: Step, direction: Direction): void {
  const { file, read } = step;
  sharedFiles.clearLeftovers(read?.path ?? file.path);
  if (describeChange(step).change !== 'unchanged') {
    if (direction === 'install') saveReceipt(store, file.agent, makeReceipt(store, step));
    write(step);
  }
  if (direction === 'uninstall') removeReceipt(store, file.agent, file.path);
}

function makeReceipt({ machine }: Store, step: Step): Receipt {
  const { host, file, read, folders, without, next } = step;
  const hasOurs = read !== null && (without === null || !without.equals(read.bytes));
  const outdatedTrust = hasOurs ? listTrustedHashes(host, { file, bytes: read.bytes, machine }) : [];
  return { path: file.path, before: without, after: sha256Hex(next ?? ''), folders, outdatedTrust };
}

const NEW_SETTINGS = 0o600;

function write({ file, read, next, folders }: Step): void {
  if (next === null) {
    if (read !== null) sharedFiles.removeSharedFile(read, folders);
  } else if (read === null)
    sharedFiles.createSharedFile(file.path, next, file.kind === 'whole' ? file.mode : NEW_SETTINGS);
  else sharedFiles.replaceSharedFile(read, next);
}
