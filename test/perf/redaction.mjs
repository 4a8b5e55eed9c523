import { join } from 'node:path';
import { compareLongWithBare } from './line.mjs';
import { runRounds } from './rounds.mjs';
import { bareNode, handover } from './run-command.mjs';
import { writeTranscript } from './sample-transcript.mjs';

/** @typedef {import('./line.mjs').Line} Line */

const MEGABYTE = 1024 * 1024;
const MEGABYTES_PER_SECOND = 50;

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
    compareLongWithBare(
      `redact of ${megabytes} MB`,
      { timing: redact, bare },
      megabytes / MEGABYTES_PER_SECOND,
    ),
  ];
}
