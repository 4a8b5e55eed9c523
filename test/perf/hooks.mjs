import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { compareWithBare } from './line.mjs';
import { runRounds } from './rounds.mjs';
import { bareNode, hook, readCommand, timeCommand } from './run-command.mjs';
import { writeTranscript } from './sample-transcript.mjs';

/** @typedef {import('./line.mjs').Line} Line */
/** @typedef {import('./run-command.mjs').Place} Place */

const MEGABYTE = 1024 * 1024;

/**
 * Hooks as agents call them, from their start to their end, in a large store.
 * @param {Place} place
 * @param {{ folder: string, rounds: number, count: number, megabytes: number }} ask
 * @returns {Line[]}
 */
export function measureHooks(place, { folder, rounds, count, megabytes }) {
  const usual = join(folder, 'hook-usual.jsonl');
  const long = join(folder, 'hook-long.jsonl');
  writeTranscript(usual, MEGABYTE);
  writeTranscript(long, megabytes * MEGABYTE);
  const captured = { session_id: 'usual', transcript_path: usual };
  timeCommand(hook(place, 'Stop', captured));
  awaitWorkers(place);
  const compacted = hook(place, 'SessionStart', { ...captured, source: 'compact' });
  if (!readCommand(compacted).includes('# Handover')) throw new Error('the hook gave nothing');
  const prompt = hook(place, 'UserPromptSubmit', { ...captured, prompt: 'go on' });
  // What was delivered is not delivered again at once: the next round finds it as if it had not been.
  const forgetGiving = () => {
    for (const area of ['ready/given', 'ready/begun', 'ready/looks', 'spool'])
      for (const name of listFiles(join(place.store, area))) rmSync(name);
  };
  const { bare, ...timings } = runRounds(
    {
      bare: { command: { ...bareNode(place), input: '' } },
      compacted: { command: compacted, before: forgetGiving },
      begun: {
        // In the same terminal it would count as cleared, and get the brief.
        command: hook(place, 'SessionStart', {
          session_id: 'new',
          source: 'startup',
          terminal_id: 'another',
        }),
        before: forgetGiving,
      },
      prompted: { command: prompt, before: forgetGiving },
      followed: {
        command: prompt,
        before: () => {
          awaitWorkers(place);
          forgetGiving();
          readCommand(compacted);
        },
      },
      ended: {
        command: hook(place, 'Stop', { session_id: 'long', transcript_path: long }),
        before: () => awaitWorkers(place),
      },
    },
    rounds,
  );
  awaitWorkers(place);
  const of = `with ${count.toLocaleString('en')} kept`;
  return [
    compareWithBare(`hook: session start, brief given, ${of}`, { timing: timings.compacted, bare }, 8),
    compareWithBare(`hook: session start, hint given, ${of}`, { timing: timings.begun, bare }, 8),
    compareWithBare('hook: prompt, nothing due', { timing: timings.prompted, bare }, 8),
    compareWithBare('hook: first prompt after a brief', { timing: timings.followed, bare }, 15),
    compareWithBare(`hook: turn over, transcript of ${megabytes} MB`, { timing: timings.ended, bare }, 15),
  ];
}

/** @param {string} folder @returns {string[]} */
function listFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

const PATIENCE_MS = 120_000;

/**
 * Workers go on when their hook has returned: what they do must not slow down what is measured next.
 * @param {Place} place
 */
function awaitWorkers({ store }) {
  const until = Date.now() + PATIENCE_MS;
  while (listFiles(join(store, 'spool')).some((name) => /[0-9a-f]{16}\.\d+-/.test(name))) {
    if (Date.now() > until) throw new Error('a worker did not come to its end');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
}
