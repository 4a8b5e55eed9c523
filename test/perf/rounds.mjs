import { timeCommand } from './run-command.mjs';

/** @typedef {import('./run-command.mjs').Command} Command */

/**
 * @typedef {object} Timing In milliseconds.
 * @property {number} min
 * @property {number} median
 * @property {number} rounds
 */

/**
 * @typedef {object} Runner
 * @property {Command} command
 * @property {() => void} [before] Done before each start, and not timed.
 */

/**
 * Starts each command once a round, one after the other, so that a busy moment of the machine hits all of them alike.
 * The first round only warms up and is not counted.
 * @template {string} Name
 * @param {Readonly<Record<Name, Runner>>} runners
 * @param {number} rounds
 * @returns {Record<Name, Timing>}
 */
export function runRounds(runners, rounds) {
  const entries = /** @type {[Name, Runner][]} */ (Object.entries(runners));
  const times = new Map(entries.map(([name]) => [name, /** @type {number[]} */ ([])]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, { command, before }] of entries) {
      before?.();
      const time = timeCommand(command);
      if (round > 0) times.get(name)?.push(time);
    }
  }
  return /** @type {Record<Name, Timing>} */ (
    Object.fromEntries([...times].map(([name, values]) => [name, summarise(values)]))
  );
}

/**
 * @param {readonly number[]} values
 * @returns {Timing}
 */
function summarise(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const median = sorted.length % 2 === 1 ? (sorted[middle] ?? Number.NaN) : mean(sorted[middle - 1], sorted[middle]);
  return { min: sorted[0] ?? Number.NaN, median, rounds: sorted.length };
}

/**
 * @param {number | undefined} a
 * @param {number | undefined} b
 */
function mean(a = Number.NaN, b = Number.NaN) {
  return (a + b) / 2;
}
