import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { HandoverError } from '../../errors.ts';
import { canonicalize, compareCodeUnits, shortHash } from '../../model/hash.ts';
import { writeFileDurably } from '../../platform/durable-file.ts';
import { readHead } from '../../platform/external-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { acquireLock, type Lock, type LockOptions } from '../../platform/lock.ts';
import type { Machine } from '../../platform/machine.ts';
import { findDataFolder } from '../../platform/paths.ts';
import { LOCKS, PUBLISH_STATES } from '../../store/store.ts';

/** What was last published of each file: its digest, and the destination's name for that version. */
export type SyncState = ReadonlyMap<string, { sha256: string; version: string }>;

export interface SyncRoute {
  machine: Machine;
  /** The project's folder. */
  root: string;
  destination: string;
}

const SCHEMA = 'published/1';
const MAX_BYTES = 64 * 1024 * 1024;

const SyncStateText = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({
    schema: v.literal(SCHEMA),
    destination: v.string(),
    files: v.array(v.tuple([v.string(), v.string(), v.string()])),
  }),
);

export function formatSyncState(destination: string, state: SyncState): string {
  const files = [...state]
    .sort(([a], [b]) => compareCodeUnits(a, b))
    .map(([path, { sha256, version }]) => [path, sha256, version]);
  return `${canonicalize({ schema: SCHEMA, destination, files })}\n`;
}

/** Null for any other text, and for the state of another destination. */
export function parseSyncState(text: string, destination: string): SyncState | null {
  const result = v.safeParse(SyncStateText, text);
  if (!result.success || result.output.destination !== destination) return null;
  return new Map(result.output.files.map(([path, sha256, version]) => [path, { sha256, version }]));
}

/** Empty when it is missing or unreadable: everything is compared with the destination then. */
export function readSyncState(route: SyncRoute): SyncState {
  const head = readHead(pathOfSyncState(route), MAX_BYTES);
  if (head === null || head.size > MAX_BYTES) return new Map();
  return parseSyncState(head.bytes.toString('utf8'), route.destination) ?? new Map();
}

export function writeSyncState(route: SyncRoute, state: SyncState): void {
  ensurePrivateFolder(findDataFolder(route.machine), PUBLISH_STATES);
  writeFileDurably(pathOfSyncState(route), formatSyncState(route.destination, state));
}

function pathOfSyncState({ machine, root, destination }: SyncRoute): string {
  return join(findDataFolder(machine), PUBLISH_STATES, `${shortHash(`${root}\n${destination}`, 16)}.json`);
}

/** One publication at a time from this machine to a destination. */
export async function withDestinationLock<T>(route: SyncRoute, work: () => Promise<T>): Promise<T> {
  const { machine, destination } = route;
  const folder = ensurePrivateFolder(findDataFolder(machine), LOCKS);
  const name = `publish-${shortHash(destination, 16)}`;
  return await withPublishLock({ folder, name, clock: machine.clock }, work);
}

const MAX_TRIES = 300;

type PublishLock = Pick<LockOptions, 'folder' | 'name' | 'clock'>;

/** Exclusive between processes and within this one; waits up to half a minute. */
export async function withPublishLock<T>(lock: PublishLock, work: () => Promise<T>): Promise<T> {
  const held = await acquire(lock);
  try {
    return await work();
  } finally {
    held.release();
  }
}

async function acquire(lock: PublishLock): Promise<Lock> {
  for (let tries = 1; ; tries++) {
    try {
      return acquireLock({ ...lock, waitMs: 0 });
    } catch (error) {
      const isBusy = error instanceof HandoverError && error.code === 'HANDOVER_LOCKED';
      if (!isBusy || tries === MAX_TRIES) throw error;
      await delay(100);
    }
  }
}
