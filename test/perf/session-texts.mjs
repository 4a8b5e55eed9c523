import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { compareLongWithBare, compareWithBare, describePeak } from './line.mjs';
import { measurePeakMemory } from './peak-memory.mjs';
import { runRounds } from './rounds.mjs';
import { bareNode, handover } from './run-command.mjs';
import { growTranscript, writeTranscript } from './sample-transcript.mjs';

/** @typedef {import('./line.mjs').Line} Line */

const MEGABYTE = 1024 * 1024;

/**
 * Searches of what was said in sessions: the first, which reads all of them, and later ones.
 * @param {string} folder
 * @param {{ rounds: number, longRounds: number, megabytes: number }} ask
 * @returns {Line[]}
 */
export function measureSessionTexts(folder, { rounds, longRounds, megabytes }) {
  const place = { home: join(folder, 'texts-home'), store: join(folder, 'texts-store'), cwd: folder };
  const sessions = join(place.home, '.claude', 'projects', '-shop');
  mkdirSync(sessions, { recursive: true });
  const file = join(sessions, '0f8fad5b-d9cb-469f-a165-70867728950e.jsonl');
  let end = writeTranscript(file, megabytes * MEGABYTE);
  const command = handover(place, ['search', '--sessions', 'no invoice ledger']);
  const forget = () => rmSync(place.store, { recursive: true, force: true });
  const bare = { command: bareNode(place) };
  const first = runRounds({ bare, search: { command, before: forget } }, longRounds);
  const again = runRounds({ bare, search: { command } }, rounds);
  const grow = () => {
    end = growTranscript(file, end);
  };
  const grown = runRounds({ bare, search: { command, before: grow } }, rounds);
  forget();
  const name = `search --sessions, ${megabytes} MB`;
  return [
    compareLongWithBare(`${name}, the first`, { timing: first.search, bare: first.bare }),
    compareWithBare(`${name}, again`, { timing: again.search, bare: again.bare }),
    compareWithBare(`${name}, 24 rows after the last`, { timing: grown.search, bare: grown.bare }),
    describePeak(`memory: ${name}, the first`, measurePeakMemory(command, folder), 200),
  ];
}
