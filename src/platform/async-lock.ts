import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../errors.ts';
import { acquireLock, type Lock, type LockOptions } from './lock.ts';

const MAX_TRIES = 300;

/** After so many the caller is told that it waits. */
const TRIES_UNTOLD = 10;

type AsyncLock = Pick<LockOptions, 'folder' | 'name' | 'clock'> & { onWait?: (() => void) | undefined };

/** A lock for asynchronous work: exclusive between processes and within this one. Waits up to half a minute. */
export async function withAsyncLock<T>({ onWait, ...lock }: AsyncLock, work: () => Promise<T>): Promise<T> {
  const held = await acquire({ ...lock, waitMs: 0 }, onWait);
  try {
    return await work();
  } finally {
    held.release();
  }
}

async function acquire(lock: LockOptions, onWait?: () => void): Promise<Lock> {
  for (let tries = 1; ; tries++) {
    try {
      return acquireLock(lock);
    } catch (error) {
      if (!hasCode(error, 'HANDOVER_LOCKED') || tries === MAX_TRIES) throw error;
      if (tries === TRIES_UNTOLD) onWait?.();
      await delay(100);
    }
  }
}
