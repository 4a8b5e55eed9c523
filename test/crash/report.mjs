/**
 * One thing that was tried, and what was wrong afterwards.
 * @typedef {{ scenario: string, at: string, line: string, complaints: string[], kept: string | null }} Failure
 */

let passed = 0;
let failed = 0;
let skipped = 0;

/** @param {string} scenario @param {string} why */
export function noteSkipped(scenario, why) {
  skipped++;
  console.log(`${scenario}: skipped: ${why}`);
}

/** Counts one scenario, and prints a line for it when it ends. */
export class Tally {
  /** @param {string} scenario */
  constructor(scenario) {
    this.scenario = scenario;
    this.started = Date.now();
    this.passed = 0;
    /** @type {Failure[]} */
    this.failures = [];
  }

  pass() {
    this.passed++;
    passed++;
  }

  /** @param {Omit<Failure, 'scenario'>} failure */
  fail(failure) {
    failed++;
    this.failures.push({ scenario: this.scenario, ...failure });
    printFailure({ scenario: this.scenario, ...failure });
  }

  /** @param {string} counts */
  end(counts) {
    const seconds = ((Date.now() - this.started) / 1000).toFixed(1);
    console.log(`${this.scenario}: ${counts}, ${this.passed} passed, ${this.failures.length} failed (${seconds} s)`);
  }
}

/** @param {Failure} failure */
function printFailure({ scenario, at, line, complaints, kept }) {
  console.log(`FAILED ${scenario} at ${at}`);
  if (line !== '') console.log(`  ${line.slice(0, 400)}`);
  for (const complaint of complaints) console.log(`  - ${complaint}`);
  if (kept !== null) console.log(`  kept: ${kept}`);
}

/** Prints the last line and returns the exit status. */
export function printTotals() {
  console.log(`${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`);
  return failed === 0 ? 0 : 1;
}
