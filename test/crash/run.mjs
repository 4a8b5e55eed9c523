import { parseArgs } from 'node:util';
import { sweepErrors, sweepShortWrites } from './error-sweep.mjs';
import { recordSweep, sweepKills } from './kill-sweep.mjs';
import { noteSkipped, printTotals } from './report.mjs';
import { closeSandbox, openBox, removeBox } from './sandbox.mjs';
import { hasIndex, SCENARIOS } from './scenarios.mjs';
import { findStraceTrouble } from './strace.mjs';

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean' }, only: { type: 'string' }, list: { type: 'boolean' } },
});

for (const scenario of SCENARIOS) {
  if (flags.only && flags.only !== scenario.name) continue;
  const box = openBox(scenario.name);
  const prepared = await scenario.prepare(box);
  const sweep = await recordSweep(scenario, prepared, box);
  await sweepKills(sweep, 9999);
  await sweepErrors(sweep, 9999);
  if (scenario.name.startsWith('save')) await sweepShortWrites(sweep);
  removeBox(box);
}
closeSandbox();
process.exitCode = printTotals();
