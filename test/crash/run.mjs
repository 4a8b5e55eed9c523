import { parseArgs } from 'node:util';
import { sweepErrors, sweepShortWrites } from './error-sweep.mjs';
import { checkFullDisk } from './full-disk.mjs';
import { recordSweep, sweepKills } from './kill-sweep.mjs';
import { PUSH_SWEEPS } from './push-git.mjs';
import { noteSkipped, printTotals, Tally } from './report.mjs';
import { closeSandbox, openBox, removeBox } from './sandbox.mjs';
import { hasIndex, SCENARIOS } from './scenarios.mjs';
import { findStraceTrouble } from './strace.mjs';
import { checkTogether } from './together.mjs';
import { checkWeakestModel } from './weakest-model.mjs';

/** @typedef {import('./scenarios.mjs').Scenario} Scenario */

const HELP = `node test/crash/run.mjs [--quick] [--only NAME] [--list]

Kills commands at every system call that touches the store, lets those calls fail, fills the disk, cuts the power on a
model of the weakest legal disk, and lets many processes work at once. Then it looks at what is left.

  --quick       a part of the points, for every push
  --only NAME   one of the names that --list prints
  --list        print the names
  --seed N      for the moments at which processes are killed in "together"
`;

const OPTIONS = /** @type {const} */ ({
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  list: { type: 'boolean', default: false },
  seed: { type: 'string' },
  help: { type: 'boolean', default: false },
});
const { values: flags } = parseArgs({ options: OPTIONS });

const ALL_POINTS = Number.POSITIVE_INFINITY;
const KILLS_OF_A_SAMPLE = 12;
const ERRORS_OF_A_SAMPLE = 8;

/** @type {{ name: string, needsStrace: boolean, run: () => Promise<void> }[]} */
const PARTS = [
  ...SCENARIOS.map((scenario) => ({ name: scenario.name, needsStrace: true, run: () => sweep(scenario) })),
  ...PUSH_SWEEPS.map(({ name, run }) => ({
    name,
    needsStrace: true,
    run: () => run(flags.quick ? KILLS_OF_A_SAMPLE : ALL_POINTS),
  })),
  { name: 'weakest-model', needsStrace: true, run: checkWeakestModel },
  { name: 'full-disk', needsStrace: false, run: checkFullDisk },
  { name: 'together', needsStrace: false, run: () => checkTogether(sizeOfTogether()) },
];

/** @param {Scenario} scenario */
async function sweep(scenario) {
  const box = openBox(scenario.name);
  if (scenario.needsIndex && !(await hasIndex(box))) {
    noteSkipped(scenario.name, 'this Node has no SQLite, so there is no index');
  } else {
    const recorded = await recordSweep(scenario, await scenario.prepare(box), box);
    const share = scenario.light ? 1 / 2 : 1;
    await sweepKills(recorded, flags.quick && !scenario.sweptWhole ? KILLS_OF_A_SAMPLE * share : ALL_POINTS);
    await sweepErrors(recorded, flags.quick ? ERRORS_OF_A_SAMPLE * share : ALL_POINTS);
    if (scenario.shortWrites && (scenario.sweptWhole || !flags.quick)) await sweepShortWrites(recorded);
  }
  removeBox(box);
}

function sizeOfTogether() {
  const seed = Number(flags.seed ?? Date.now() % 1_000_000);
  return flags.quick ? { writers: 12, saves: 15, seed } : { writers: 50, saves: 100, seed };
}

/** @param {string | null} straceTrouble */
async function runParts(straceTrouble) {
  for (const { name, needsStrace, run } of PARTS) {
    if (flags.only !== undefined && flags.only !== name) continue;
    if (needsStrace && straceTrouble !== null) noteSkipped(name, straceTrouble);
    else await run().catch((/** @type {unknown} */ error) => failWhole(name, error));
  }
}

/** A part that cannot be carried out has failed. @param {string} name @param {unknown} error */
function failWhole(name, error) {
  const complaints = [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  new Tally(name).fail({ at: 'the whole', line: '', complaints, kept: null });
}

if (flags.help) console.log(HELP);
else if (flags.list) for (const { name } of PARTS) console.log(name);
else if (flags.only !== undefined && !PARTS.some(({ name }) => name === flags.only)) {
  console.error(`there is no "${flags.only}"; see --list`);
  process.exitCode = 64;
} else {
  const trouble = findStraceTrouble();
  if (trouble !== null && process.env.CI === 'true') failWhole('strace', trouble);
  await runParts(trouble);
  closeSandbox();
  process.exitCode = printTotals();
}
