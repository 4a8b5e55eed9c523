import { disturb, finishAttempt } from './kill-sweep.mjs';
import { forEachInParallel, sampleEvenly } from './parallel.mjs';
import { canFail } from './points.mjs';
import { Tally } from './report.mjs';

const ERRORS = ['EIO', 'ENOSPC'];

/**
 * Fails each call that changes the store, once with each error: the command says so, or has done its work all the same.
 * @param {import('./kill-sweep.mjs').Sweep} sweep
 * @param {number} most
 */
export async function sweepErrors(sweep, most) {
  const tally = new Tally(`error ${sweep.scenario.name}`);
  const points = sweep.points.filter(canFail);
  const all = points.flatMap((point) => ERRORS.map((error) => ({ point, error })));
  const chosen = sampleEvenly(all, most);
  let hits = 0;
  await forEachInParallel(chosen, async ({ point, error }) => {
    const attempt = await disturb(sweep, point, `error=${error}`);
    if (attempt.hit) hits++;
    finishAttempt(tally, point, attempt);
  });
  tally.end(`${points.length} points, ${chosen.length} tried, ${hits} failed on purpose`);
}

/**
 * Makes each write of the store do nothing and claim some bytes: one, ten, half of them, all of them. A line
 * of the journal may be damaged that way, which doctor then finds; a handover may not.
 * @param {import('./kill-sweep.mjs').Sweep} sweep
 */
export async function sweepShortWrites(sweep) {
  const tally = new Tally(`short writes ${sweep.scenario.name}`);
  const points = sweep.points.filter((point) => point.syscall === 'write' && point.target === 'store');
  const all = points.flatMap((point) => chooseClaims(point).map((claim) => ({ point, claim })));
  await forEachInParallel(all, async ({ point, claim }) => {
    const tolerate = () => (point.likeness.includes('/journal/') ? ['damaged-journal-line'] : []);
    const prepared = { ...sweep.prepared, tolerate };
    finishAttempt(tally, point, await disturb({ ...sweep, prepared }, point, `retval=${claim}`));
  });
  tally.end(`${points.length} writes, ${all.length} tried`);
}

/** @param {import('./points.mjs').Point} point */
function chooseClaims({ line }) {
  const length = Number(/= (\d+)$/.exec(line)?.[1]);
  return [...new Set([1, 10, Math.floor(length / 2), length])];
}
