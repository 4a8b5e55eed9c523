import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { compareWithBare, compareWithOther, describePeak } from './line.mjs';
import { measurePeakMemory } from './peak-memory.mjs';
import { runRounds } from './rounds.mjs';
import { bareNode, handover, timeCommand } from './run-command.mjs';
import { growTranscript, writeTranscript } from './sample-transcript.mjs';

/** @typedef {import('./line.mjs').Line} Line */

const MEGABYTE = 1024 * 1024;
/** What no reading of a transcript can do without: its lines, one after the other, through `JSON.parse`. */
const PARSE_LOOP = `
  const lines = require('node:readline').createInterface({ input: require('node:fs').createReadStream(process.argv[1]) });
  let rows = 0;
  lines.on('line', (line) => { JSON.parse(line); rows++; });
`;

/**
 * Captures of transcripts, long, usual, and read before.
 * @param {string} folder
 * @param {{ rounds: number, longRounds: number, megabytes: number }} ask
 * @returns {Line[]}
 */
export function measureCaptures(folder, { rounds, longRounds, megabytes }) {
  const place = { home: join(folder, 'capture-home'), store: join(folder, 'capture-store'), cwd: folder };
  mkdirSync(place.home, { recursive: true });
  const long = join(folder, 'long.jsonl');
  const usual = join(folder, 'usual.jsonl');
  writeTranscript(long, megabytes * MEGABYTE);
  let end = writeTranscript(usual, 4 * MEGABYTE);
  const capture = (/** @type {string} */ file, /** @type {string[]} */ ...more) =>
    handover(place, ['capture', '--agent', 'claude-code', '--transcript', file, ...more]);
  const anew = { ...place, store: join(folder, 'capture-nowhere') };
  const first = (/** @type {string} */ file) =>
    handover(anew, ['capture', '--agent', 'claude-code', '--transcript', file, '--dry-run']);
  const { bare, whole } = runRounds({ bare: { command: bareNode(place) }, whole: { command: first(usual) } }, rounds);
  timeCommand(capture(usual));
  const again = runRounds(
    {
      bare: { command: bareNode(place) },
      grown: {
        command: capture(usual),
        before: () => {
          end = growTranscript(usual, end);
        },
      },
    },
    rounds,
  );
  const slow = runRounds(
    {
      parse: { command: { ...bareNode(place), args: ['-e', PARSE_LOOP, long] } },
      capture: { command: first(long) },
    },
    longRounds,
  );
  return [
    compareWithOther(
      `capture of ${megabytes} MB / its lines through JSON.parse`,
      { timing: slow.capture, other: slow.parse },
      2.5,
    ),
    compareWithBare('capture of 4 MB', { timing: whole, bare }, 400),
    compareWithBare('capture of 4 MB, 24 rows after the last', { timing: again.grown, bare: again.bare }, 40),
    describePeak(`memory: capture of ${megabytes} MB`, measurePeakMemory(first(long), folder), 150),
  ];
}
