import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { compareWithOther } from './line.mjs';
import { runRounds } from './rounds.mjs';
import { handover } from './run-command.mjs';
import { SESSION, writeTranscript } from './sample-transcript.mjs';

/**
 * Other programs for parts of the same job, each beside the command of ours that does that part. Only those on the PATH are run,
 * on the same files and in the same rounds.
 * @type {{ program: string, job: string, args: (place: Place) => string[], ours: (place: Place) => string[] }[]}
 */
const PEERS = [
  {
    program: 'session-handoff',
    job: 'save',
    args: ({ cwd }) => ['save', '--tool', 'codex', '--project', cwd, '--title', 'the work', '--summary', 'half done'],
    ours: () => ['save', '--title', 'the work', '--summary', 'half done'],
  },
  {
    program: 'continues',
    job: 'a session of 4 MB read',
    args: () => ['inspect', SESSION],
    ours: ({ transcript }) => ['capture', '--agent', 'claude-code', '--transcript', transcript, '--dry-run'],
  },
  {
    program: 'deja',
    job: 'a search in sessions',
    args: () => ['retry queue'],
    ours: () => ['search', '--sessions', 'retry queue'],
  },
];

/** @typedef {import('./run-command.mjs').Place & { transcript: string }} Place */

/**
 * @param {string} folder
 * @param {{ rounds: number }} ask
 * @returns {import('./line.mjs').Line[]}
 */
export function measurePeers(folder, { rounds }) {
  const home = join(folder, 'peer-home');
  const sessions = join(home, '.claude', 'projects', '-home-dev-shop');
  mkdirSync(sessions, { recursive: true });
  const cwd = join(folder, 'peer-project');
  mkdirSync(cwd);
  spawnSync('git', ['init', '--quiet', cwd]);
  const transcript = join(sessions, `${SESSION}.jsonl`);
  writeTranscript(join(folder, 'peer.jsonl'), 4 * 1024 * 1024);
  copyFileSync(join(folder, 'peer.jsonl'), transcript);
  const place = { home, store: join(folder, 'peer-store'), cwd, transcript };
  return PEERS.flatMap(({ program, job, args, ours }) => {
    if (spawnSync(program, ['--help'], { stdio: 'ignore' }).error !== undefined) {
      console.error(`not on the PATH: ${program}`);
      return [];
    }
    const own = handover(place, ours(place));
    const theirs = { ...own, program, args: args(place) };
    const { us, them } = runRounds({ us: { command: own }, them: { command: theirs } }, rounds);
    return [compareWithOther(`${job}: handover / ${program}`, { timing: us, other: them })];
  });
}
