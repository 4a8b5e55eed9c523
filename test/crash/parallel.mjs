import { availableParallelism } from 'node:os';

/** Two at least: most of the time goes into waiting for the disk. */
export const WORKERS = Math.max(2, Math.min(8, availableParallelism()));

/**
 * Runs `work` on every item, `WORKERS` at a time.
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T, index: number) => Promise<void>} work
 */
export async function forEachInParallel(items, work) {
  const queue = items.entries();
  const drain = async () => {
    for (const [index, item] of queue) await work(item, index);
  };
  await Promise.all(Array.from({ length: WORKERS }, drain));
}

/**
 * Every k-th item, so that about `count` remain, with the first among them.
 * @template T
 * @param {readonly T[]} items
 * @param {number} count
 */
export function sampleEvenly(items, count) {
  const step = Math.max(1, Math.ceil(items.length / count));
  return items.filter((_, index) => index % step === 0);
}
