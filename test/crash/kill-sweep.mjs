import { forEachInParallel, sampleEvenly } from './parallel.mjs';
import { findPoints } from './points.mjs';
import { Tally } from './report.mjs';
import { copyBox, removeBox } from './sandbox.mjs';
import { findComplaints } from './state-checks.mjs';
import { straceHandover } from './strace.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */
/** @typedef {import('./scenarios.mjs').Scenario} Scenario */
/** @typedef {import('./scenarios.mjs').Prepared} Prepared */
/** @typedef {import('./points.mjs').Point} Point */
/** @typedef {{ scenario: Scenario, prepared: Prepared, box: Box, points: Point[] }} Sweep */

/**
 * Runs the scenario undisturbed, once to see that the main thread alone touches the store, once to find its points.
 * @param {Scenario} scenario
 * @param {Prepared} prepared
 * @param {Box} box
 * @returns {Promise<Sweep>}
 */
export async function recordSweep(scenario, prepared, box) {
  const { inject } = scenario;
  const { program } = prepared;
  const threads = copyBox(box, `${scenario.name}-threads`);
  const { lines: all } = await straceHandover(threads, prepared.args, { inject, program, everyThread: true });
  assertOneThread(all, threads);
  removeBox(threads);
  const alone = copyBox(box, `${scenario.name}-record`);
  const { lines, ended } = await straceHandover(alone, prepared.args, { inject, program });
  const complaints = await findComplaints(alone, prepared, ended);
  if (ended.status !== 0 || complaints.length > 0) {
    throw new Error(`${scenario.name} fails undisturbed (${ended.status}): ${complaints.join('; ')} ${ended.stderr}`);
  }
  const standing = (inject ?? []).map((fault) => fault.replace(/^\?|:.*$/g, ''));
  const points = findPoints(lines, alone).filter(({ syscall }) => !standing.includes(syscall));
  removeBox(alone);
  return { scenario, prepared, box, points };
}

/** @param {string[]} lines @param {Box} box */
function assertOneThread(lines, box) {
  const main = lines[0]?.split(' ', 1)[0];
  const strays = lines.filter((line) => !line.startsWith(`${main} `) && line.includes(box.store));
  if (strays.length > 0) throw new Error(`another thread or process touches the store: ${strays[0]}`);
}

/**
 * Kills the command on entry of each of its calls, so that the call has no effect.
 * @param {Sweep} sweep
 * @param {number} most
 */
export async function sweepKills(sweep, most) {
  const { scenario, points } = sweep;
  const tally = new Tally(`kill ${scenario.name}`);
  const chosen = sampleEvenly(points, most);
  let killed = 0;
  await forEachInParallel(chosen, async (point) => {
    const attempt = await disturb(sweep, point, 'signal=KILL');
    if (attempt.hit) killed++;
    finishAttempt(tally, point, attempt);
  });
  tally.end(`${points.length} points, ${chosen.length} tried, ${killed} killed`);
}

/** @typedef {{ box: Box, hit: boolean, complaints: string[], what: string }} Attempt */

const MAX_ATTEMPTS = 100;

/**
 * Runs the command on a fresh copy with one fault. What a Node process does besides shifts the count of a call: by two
 * when it is the main thread that hears of a child's end, by one when it is the one to ask how memory is given out. A run in
 * which the fault met another call than the one it is meant for proves nothing and is repeated, with a count that the call
 * had in some run: in this one, if it went by undisturbed, else in one without a fault.
 * @param {Sweep} sweep
 * @param {Point} point
 * @param {string} fault
 * @returns {Promise<Attempt>}
 */
export async function disturb(sweep, point, fault) {
  const { scenario, prepared, box: origin } = sweep;
  const what = `${point.syscall}:${fault}:when=${point.nth}`;
  const seen = [point.nth];
  let met = 'nothing';
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const box = copyBox(origin, `${scenario.name}-${point.syscall}-${point.nth}`);
    const when = seen[attempt % seen.length] ?? point.nth;
    const inject = [...(scenario.inject ?? []), `${point.syscall}:${fault}:when=${when}`];
    const { ended, lines } = await straceHandover(box, prepared.args, { inject, program: prepared.program });
    const points = findPoints(lines, box);
    const hit = points.find(({ line }) => isDisturbed(line, fault));
    if (hit !== undefined && isSamePoint(hit, point)) {
      const complaints = [...judgeEnd(prepared, ended, fault), ...(await findComplaints(box, prepared, ended))];
      return { box, hit: true, complaints, what };
    }
    met = hit?.line ?? met;
    removeBox(box);
    const passedBy = points.find((other) => isSamePoint(other, point)) ?? (await meetUndisturbed(sweep, point));
    if (passedBy !== undefined) seen.push(passedBy.nth);
  }
  return { box: origin, hit: false, complaints: [`the fault never met this call, but ${met}`], what };
}

/** @param {Sweep} sweep @param {Point} point */
async function meetUndisturbed({ scenario, prepared, box: origin }, point) {
  const box = copyBox(origin, `${scenario.name}-${point.syscall}-${point.nth}-again`);
  const { lines } = await straceHandover(box, prepared.args, { inject: scenario.inject, program: prepared.program });
  const points = findPoints(lines, box);
  removeBox(box);
  return points.find((other) => isSamePoint(other, point));
}

/** @param {Point} one @param {Point} other */
function isSamePoint(one, other) {
  return one.likeness === other.likeness && one.round === other.round;
}

/** @param {string} line @param {string} fault */
function isDisturbed(line, fault) {
  if (fault.startsWith('signal')) return line.endsWith('= ?');
  return line.endsWith('(INJECTED)') && !line.includes('EPERM');
}

/** Statuses in which a command may end when the disk fails it. */
const HONEST = [0, 74, 75, 77];

/**
 * @param {Prepared} prepared
 * @param {import('./command.mjs').Ended} ended
 * @param {string} fault
 */
function judgeEnd(prepared, ended, fault) {
  if (fault.startsWith('signal')) return ended.signal === 'SIGKILL' ? [] : [`it was not killed: ${ended.status}`];
  const allowed = prepared.tolerate === undefined ? HONEST : [...HONEST, 65];
  const complaints = [];
  if (ended.status === null || !allowed.includes(ended.status)) {
    complaints.push(`it ended with ${ended.signal ?? ended.status}: ${ended.stderr.trim()}`);
  } else if (/^\s+at /m.test(ended.stderr)) complaints.push(`it showed a stack: ${ended.stderr.trim()}`);
  return complaints;
}

/** @param {Tally} tally @param {Point} point @param {Attempt} attempt */
export function finishAttempt(tally, point, { box, hit, complaints, what }) {
  if (complaints.length > 0) {
    tally.fail({ at: what, line: point.line, complaints, kept: hit ? box.folder : null });
    return;
  }
  removeBox(box);
  tally.pass();
}
