import type { HookedAgent } from '../../agents/hook-input.ts';
import { type HookFile, type HookHost, holdsHooks, holdsServer } from '../../agents/hook-setup.ts';
import { sha256Hex } from '../../model/hash.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { withLock } from '../../platform/lock.ts';
import {
  assertWritable,
  clearLeftovers,
  createSharedFile,
  listMissingFolders,
  readSharedFile,
  removeSharedFile,
  replaceSharedFile,
  type SharedFile,
} from '../../platform/shared-file.ts';
import { LOCKS, type Store } from '../../store/store.ts';
import { planInstall, planUninstall } from './plan.ts';
import { dropReceipt, findReceipt, keepReceipt, type Receipt } from './receipts.ts';
import { type HookSite, listHookFiles, listHosts } from './targets.ts';
import { findNotedTrust } from './trust.ts';

export interface HookRequest extends HookSite {
  agents: readonly HookedAgent[];
  /** Only say what would be done. */
  dryRun: boolean;
}

export interface HookChange {
  agent: HookedAgent;
  path: string;
  /** What of ours the file is for. */
  holds: 'hooks' | 'mcp' | 'hooks and mcp';
  change: 'created' | 'changed' | 'removed' | 'unchanged';
}

type Direction = 'install' | 'uninstall';

export function installHooks(store: Store, request: HookRequest): HookChange[] {
  return changeHooks(store, request, 'install');
}

export function uninstallHooks(store: Store, request: HookRequest): HookChange[] {
  return changeHooks(store, request, 'uninstall');
}

const LOCK_WAIT_MS = 10_000;

/** Everything is planned before anything is written: what is refused for one file leaves all of them as they are. */
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
  read: SharedFile | null;
  /** The folders that were made for the file, or are to be. */
  folders: string[];
  /** What an uninstall would leave. */
  without: Buffer | null;
  next: Buffer | null;
}

function planAll(store: Store, request: HookRequest, direction: Direction): Step[] {
  return listHosts(request.agents).flatMap((host) =>
    listHookFiles(host, store.machine, request).map((file) => {
      const read = readSharedFile(file.path);
      const receipt = findReceipt(store, file.agent, file.path);
      const standing = { bytes: read?.bytes ?? null, receipt };
      const without = planUninstall(file, standing);
      const next = direction === 'install' ? planInstall(file, standing) : without;
      const folders = read === null ? listMissingFolders(file.path) : (receipt?.folders ?? []);
      if (read !== null && nameChange(read.bytes, next) !== 'unchanged') assertWritable(read);
      return { host, file, read, folders, without, next };
    }),
  );
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
  const { change } = describeChange(step);
  clearLeftovers(step.read?.path ?? step.file.path);
  if (change !== 'unchanged' && direction === 'install')
    keepReceipt(store, step.file.agent, makeReceipt(store, step));
  if (change !== 'unchanged') write(step);
  if (direction === 'uninstall') dropReceipt(store, step.file.agent, step.file.path);
}

function makeReceipt(store: Store, step: Step): Receipt {
  const { host, file, read, folders, without, next } = step;
  const hasOurs = read !== null && (without === null || !without.equals(read.bytes));
  return {
    path: file.path,
    before: without,
    after: sha256Hex(next ?? ''),
    folders,
    outdatedTrust: hasOurs ? findNotedTrust(host, { file, bytes: read.bytes, machine: store.machine }) : [],
  };
}

const NEW_SETTINGS = 0o600;

function write({ file, read, next, folders }: Step): void {
  if (next === null) {
    if (read !== null) removeSharedFile(read, folders);
  } else if (read === null)
    createSharedFile(file.path, next, file.kind === 'whole' ? file.mode : NEW_SETTINGS);
  else replaceSharedFile(read, next);
}
