import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compareLongWithBare } from './line.mjs';
import { runRounds } from './rounds.mjs';
import { bareNode, handover } from './run-command.mjs';
import { writeTranscript } from './sample-transcript.mjs';

/** @typedef {import('./line.mjs').Line} Line */

const MEGABYTE = 1024 * 1024;
const MEGABYTES_PER_SECOND = 50;
const MOST_AGAINST_RULE = 100;

/**
 * A transcript through `handover redact`, second net included.
 * @param {string} folder
 * @param {{ rounds: number, megabytes: number }} ask
 * @returns {Line[]}
 */
export function measureRedaction(folder, { rounds, megabytes }) {
  const place = { home: join(folder, 'redact-home'), store: join(folder, 'redact-store'), cwd: folder };
  const file = join(folder, 'redact.jsonl');
  writeTranscript(file, megabytes * MEGABYTE);
  const { bare, redact } = runRounds(
    { bare: { command: bareNode(place) }, redact: { command: handover(place, ['redact', '--json', file]) } },
    rounds,
  );
  return [
    compareLongWithBare(`redact of ${megabytes} MB`, { timing: redact, bare }, megabytes / MEGABYTES_PER_SECOND),
    measureSlowestAdversary(),
  ];
}

/**
 * The text of 1 MB, of those that were made against the rules, that takes most processor time.
 * @returns {Line}
 */
function measureSlowestAdversary() {
  const script = fileURLToPath(new URL('run-slowest-adversary.mjs', import.meta.url));
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${script} ended with ${status}\n${stderr}`);
  const { name, count, ...timing } = JSON.parse(stdout);
  return {
    ...timing,
    name: `redact: slowest of ${count} texts against rules, ${name}`,
    unit: 'ms over node',
    limit: MOST_AGAINST_RULE,
  };
}
