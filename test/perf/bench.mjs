import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureAttacks } from './attacks.mjs';
import { measureCaptures } from './captures.mjs';
import { measureClaims } from './claims.mjs';
import { measureHooks } from './hooks.mjs';
import { isMissed } from './line.mjs';
import { measureFirstLists, measureLongRuns, measurePeaks, measureReads, measureSaves } from './measurements.mjs';
import { measureMemory } from './memory.mjs';
import { measurePeers } from './peers.mjs';
import { measureRedaction } from './redaction.mjs';
import { formatTable } from './report.mjs';
import { measureReport } from './report-page.mjs';
import { measureSearches } from './searches.mjs';
import { measureSessionTexts } from './session-texts.mjs';
import { makePlaces, SOME } from './stores.mjs';

const FULL = { count: 100_000, rounds: 40, longRounds: 5, megabytes: 100 };
const QUICK = { count: 10_000, rounds: 10, longRounds: 2, megabytes: 20 };

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    only: { type: 'string', multiple: true },
    peers: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
  },
});
const size = values.quick ? QUICK : FULL;
const lines = measureAll(size);
console.log(formatTable(lines));
if (values.json !== undefined) {
  const run = { node: process.version, platform: `${process.platform}-${process.arch}`, ...size, lines };
  writeFileSync(values.json, `${JSON.stringify(run, null, 2)}\n`);
}
process.exitCode = lines.some(isMissed) ? 1 : 0;

/** @param {typeof FULL} size */
function measureAll({ count, rounds, longRounds, megabytes }) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'handover-bench-')));
  try {
    /** @type {import('./stores.mjs').Places | undefined} */
    let made;
    const places = () => {
      if (made === undefined) console.error(`writing stores of ${count} handovers`);
      made ??= makePlaces(folder, { count, now: Date.now() });
      return made;
    };
    const step = (/** @type {string} */ name, /** @type {() => import('./line.mjs').Line[]} */ measure) => {
      if (values.only !== undefined && !values.only.includes(name)) return [];
      console.error(`measuring ${name}`);
      return measure();
    };
    if (values.peers) return measurePeers(folder, { rounds: 10 });
    return [
      ...step('commands that read', () => measureReads(places(), { rounds, count })),
      ...step('saves', () => measureSaves(places(), { rounds, count })),
      ...step('lists after a save', () => measureFirstLists(places(), { rounds, count })),
      ...step('long runs', () => measureLongRuns(places(), { rounds: longRounds, count })),
      ...step('captures', () => measureCaptures(folder, { rounds: 10, longRounds, megabytes })),
      ...step('texts of sessions', () => measureSessionTexts(folder, { rounds: 10, longRounds, megabytes })),
      ...step('searches', () => measureSearches(folder, { rounds: 10, count, now: Date.now() })),
      ...step('reports', () => measureReport(folder, { rounds: longRounds, now: Date.now() })),
      ...step('claims', () => measureClaims(folder, { rounds })),
      ...step('hooks', () => measureHooks(places().some, { folder, rounds, count: SOME, megabytes })),
      ...step('redaction', () => measureRedaction(folder, { rounds: longRounds, megabytes })),
      ...step('attacks', () => measureAttacks(folder, { rounds: longRounds })),
      ...step('runs and notes', () => measureMemory(folder, { rounds })),
      ...step('memory', () => measurePeaks(places(), { count, folder })),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
