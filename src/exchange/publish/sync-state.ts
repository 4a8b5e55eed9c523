import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { HandoverError } from '../../errors.ts';
import { canonicalize, compareCodeUnits, sha256Hex, shortHash } from '../../model/hash.ts';
import { writeFileDurably } from '../../platform/durable-file.ts';
import { readHead } from '../../platform/external-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { acquireLock, type Lock, type LockOptions } from '../../platform/lock.ts';
import type { Machine } from '../../platform/machine.ts';
import { findDataFolder } from '../../platform/paths.ts';
import { LOCKS, PUBLISHED } from '../../store/store.ts';

/** What a file was like when it last arrived: the digest of its bytes, and what the other side calls that version. */
export interface SyncEntry {
  sha256: string;
  version: string;
}

export type SyncState = ReadonlyMap<string, SyncEntry>;

const SCHEMA = 'published/1';
const MAX_BYTES = 64 * 1024 * 1024;

const SyncStateFile = v.strictObject({
  schema: v.literal(SCHEMA),
  destination: v.string(),
  files: v.array(v.tuple([v.string(), v.string(), v.string()])),
});

/** Who publishes what to where: arrivals of one are of no use to another. */
export interface SyncRoute {
  machine: Machine;
  /** The project's folder. */
  root: string;
  destination: string;
}

export function digest(bytes: Uint8Array): string {
  return sha256Hex(bytes);
}

export function formatSyncState(destination: string, arrivals: SyncState): string {
  const files = [...arrivals]
    .sort(([a], [b]) => compareCodeUnits(a, b))
    .map(([path, { sha256, version }]) => [path, sha256, version]);
  return `${canonicalize({ schema: SCHEMA, destination, files })}\n`;
}

/** Null for what is no such file, or one of another destination. */
export function parseSyncState(text: string, destination: string): SyncState | null {
  const result = v.safeParse(SyncStateFile, parseOrNull(text));
  if (!result.success || result.output.destination !== destination) return null;
  return new Map(result.output.files.map(([path, sha256, version]) => [path, { sha256, version }]));
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** SyncState spare asking what has arrived. Without them everything is compared with what the other side has. */
export function readSyncState(route: SyncRoute): SyncState {
  const head = readHead(pathOfSyncState(route), MAX_BYTES);
  if (head === null || head.size > MAX_BYTES) return new Map();
  return parseSyncState(head.bytes.toString('utf8'), route.destination) ?? new Map();
}

export function writeSyncState(route: SyncRoute, arrivals: SyncState): void {
  ensurePrivateFolder(findDataFolder(route.machine), PUBLISHED);
  writeFileDurably(pathOfSyncState(route), formatSyncState(route.destination, arrivals));
}

function pathOfSyncState({ machine, root, destination }: SyncRoute): string {
  return join(findDataFolder(machine), PUBLISHED, `${shortHash(`${root}\n${destination}`, 16)}.json`);
}

const LOCK_PAUSE_MS = 100;
const MAX_LOCK_TRIES = 300;

/** Lets one publication at a time go from this machine to a destination. */
export async function withDestinationLock<T>(
  { machine, destination }: SyncRoute,
  work: () => Promise<T>,
): Promise<T> {
  const folder = ensurePrivateFolder(findDataFolder(machine), LOCKS);
  const name = `publish-${shortHash(destination, 16)}`;
  return await withPublishLock({ folder, name, clock: machine.clock }, work);
}

/** Runs asynchronous work while no other process, and nobody else in this one, runs work under the same lock. */
export async function withPublishLock<T>(
  lock: Pick<LockOptions, 'folder' | 'name' | 'clock'>,
  work: () => Promise<T>,
): Promise<T> {
  const held = await acquirePublishLock(lock);
  try {
    return await work();
  } finally {
    held.release();
  }
}

async function acquirePublishLock(lock: Pick<LockOptions, 'folder' | 'name' | 'clock'>): Promise<Lock> {
  for (let tries = 1; ; tries++) {
    try {
      return acquireLock({ ...lock, waitMs: 0 });
    } catch (error) {
      if (!(error instanceof HandoverError) || error.code !== 'HANDOVER_LOCKED' || tries === MAX_LOCK_TRIES)
        throw error;
      await delay(LOCK_PAUSE_MS);
    }
  }
}
