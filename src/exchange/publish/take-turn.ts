import { setTimeout as delay } from 'node:timers/promises';
import { HandoverError } from '../../errors.ts';
import { shortHash } from '../../model/hash.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { acquireLock, type Lock, type LockOptions } from '../../platform/lock.ts';
import { findDataFolder } from '../../platform/paths.ts';
import { LOCKS } from '../../store/store.ts';
import type { Route } from './arrivals.ts';

const PAUSE_MS = 100;
const MAX_TRIES = 300;

/** Lets one publication at a time go from this machine to a destination. */
export async function takeTurnTo<T>({ machine, destination }: Route, work: () => Promise<T>): Promise<T> {
  const folder = ensurePrivateFolder(findDataFolder(machine), LOCKS);
  const name = `publish-${shortHash(destination, 16)}`;
  return await takeTurn({ folder, name, clock: machine.clock }, work);
}

/** Runs asynchronous work while no other process, and nobody else in this one, runs work under the same lock. */
export async function takeTurn<T>(
  lock: Pick<LockOptions, 'folder' | 'name' | 'clock'>,
  work: () => Promise<T>,
): Promise<T> {
  const held = await acquire(lock);
  try {
    return await work();
  } finally {
    held.release();
  }
}

async function acquire(lock: Pick<LockOptions, 'folder' | 'name' | 'clock'>): Promise<Lock> {
  for (let tries = 1; ; tries++) {
    try {
      return acquireLock({ ...lock, waitMs: 0 });
    } catch (error) {
      if (!(error instanceof HandoverError) || error.code !== 'HANDOVER_LOCKED' || tries === MAX_TRIES)
        throw error;
      await delay(PAUSE_MS);
    }
  }
}
