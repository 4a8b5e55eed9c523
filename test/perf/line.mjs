/** @typedef {import('./rounds.mjs').Timing} Timing */

/**
 * One line of the result. `min` compares the fastest runs, `median` the middle ones; both must keep within `limit`.
 * @typedef {object} Line
 * @property {string} name
 * @property {'ms over node' | 's over node' | 's' | 'times' | 'MB'} unit
 * @property {number} min
 * @property {number} median
 * @property {number} rounds
 * @property {number | null} limit Null for what is measured for information only.
 */

/**
 * @param {string} name
 * @param {{ timing: Timing, bare: Timing }} measured
 * @param {number | null} limit In milliseconds.
 * @returns {Line}
 */
export function compareWithBare(name, { timing, bare }, limit = null) {
  const min = timing.min - bare.min;
  const median = timing.median - bare.median;
  return { name, unit: 'ms over node', min, median, rounds: timing.rounds, limit };
}

/**
 * As above, in seconds.
 * @param {string} name
 * @param {{ timing: Timing, bare: Timing }} measured
 * @param {number | null} limit In seconds.
 * @returns {Line}
 */
export function compareLongWithBare(name, measured, limit = null) {
  const { min, median, rounds } = compareWithBare(name, measured);
  return { name, unit: 's over node', min: min / 1000, median: median / 1000, rounds, limit };
}

/**
 * @param {string} name
 * @param {{ timing: Timing, other: Timing }} measured
 * @param {number | null} limit
 * @returns {Line}
 */
export function compareWithOther(name, { timing, other }, limit = null) {
  const min = timing.min / other.min;
  const median = timing.median / other.median;
  return { name, unit: 'times', min, median, rounds: timing.rounds, limit };
}

/**
 * @param {string} name
 * @param {number} megabytes
 * @param {number | null} limit
 * @returns {Line}
 */
export function describePeak(name, megabytes, limit) {
  return { name, unit: 'MB', min: megabytes, median: megabytes, rounds: 1, limit };
}

/** @param {Line} line */
export function isMissed({ min, median, limit }) {
  return limit !== null && !(min <= limit && median <= limit);
}
