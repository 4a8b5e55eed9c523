import { clampTime } from '../model/time.ts';
import { readLastTime } from './journal.ts';
import type { Store } from './store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The time for something that happens now: later than all that happened before, although the clock may stand still
 * or go back. A clock that is behind by more than a day is believed instead, or one wrong date would rule for ever.
 */
export function nextMoment(store: Store): number {
  const now = clampTime(store.machine.clock.now());
  const last = readLastTime(store, latestBelievable(now));
  return last === null || last < now ? now : last + 1;
}

/** Handovers dated further ahead than this come from a clock that was wrong. */
export function latestBelievable(nowMs: number): number {
  return nowMs + DAY_MS;
}
