import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { generateStoreOfFacts } from './generate-store.mjs';
import { compareLongWithBare, compareWithBare, describePeak } from './line.mjs';
import { measurePeakMemory } from './peak-memory.mjs';
import { runRounds } from './rounds.mjs';
import { bareNode, handover, timeCommand } from './run-command.mjs';

/** @typedef {import('./line.mjs').Line} Line */
/** @typedef {import('./rounds.mjs').Timing} Timing */

const FACTS = 20;
const FACTS_PER_SECOND = 20_000;
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

/** What people look for: words, common and rare ones, names, paths, errors, mistyped and unfinished words, with limits. */
const QUERIES = [
  ['login'],
  ['table'],
  ['in the'],
  ['recontable'],
  ['recon table login'],
  ['cacheing tablecon'],
  ['decision on the table of sessions'],
  ['why was the recon table not cached when the login server ran as a worker'],
  ['src/table/login-server.ts'],
  ['src/recon/'],
  ['login-server.ts'],
  ['table_login_server'],
  ['recon table login failed with exit code 1'],
  ['Error: cannot find module src/table'],
  ['serverlogni tabel'],
  ['recontabel'],
  ['contabl'],
  ['--kind', 'decision', 'table'],
  ['--project', 'project7', 'table login'],
  ['--since', '90d', 'table'],
  ['--agent', 'codex', '--kind', 'error,next', 'login'],
  ['--file', 'table', 'table'],
];

/**
 * Searches of facts, questions about them, and building the index for both.
 * @param {string} folder
 * @param {{ rounds: number, count: number, now: number }} ask
 * @returns {Line[]}
 */
export function measureSearches(folder, { rounds, count, now }) {
  const place = { home: folder, store: join(folder, 'facts'), cwd: folder };
  generateStoreOfFacts(place.store, FACTS, { count, span: { firstMs: now - YEAR_MS, lastMs: now } });
  const ask = (/** @type {readonly string[]} */ words) => handover(place, ['search', '--limit', '5', ...words]);
  const forget = () => {
    for (const name of ['search.sqlite', 'search.sum']) rmSync(join(place.store, name), { force: true });
  };
  const bare = { command: bareNode(place) };
  const built = timeOnce(ask(['table']));
  forget();
  const peak = measurePeakMemory(ask(['table']), folder);
  // An index is looked at more closely while its files are new.
  for (let i = 0; i < 3; i++) timeCommand(ask(['table']));
  const { bare: start, ...searches } = runRounds(
    { bare, ...Object.fromEntries(QUERIES.map((words, at) => [`query ${at}`, { command: ask(words) }])) },
    rounds,
  );
  const { bare: startOfQuestions, ...questions } = runRounds(
    {
      bare,
      'why, a folder': { command: handover(place, ['why', '--all', 'src/table']) },
      errors: { command: handover(place, ['errors', '--all', 'recon table login failed']) },
      'files of a project': { command: handover(place, ['files', '--project', 'project7']) },
      timeline: { command: handover(place, ['timeline', '--all']) },
    },
    rounds,
  );
  const { bare: startOfFiles, files } = runRounds({ bare, files: { command: handover(place, ['files', '--all']) } }, 1);
  const spelt = `${(count * FACTS).toLocaleString('en')} facts`;
  const timings = Object.values(searches);
  return [
    compareLongWithBare(
      `search index built anew, ${spelt}`,
      { timing: built, bare: start },
      (count * FACTS) / FACTS_PER_SECOND,
    ),
    describePeak(`memory: search index built anew, ${spelt}`, peak, 200),
    compareWithBare(
      `search, p50 of ${QUERIES.length} queries, ${spelt}`,
      { timing: takeMiddle(timings), bare: start },
      40,
    ),
    compareWithBare(`search, the slowest of them, ${spelt}`, { timing: takeSlowest(timings), bare: start }),
    ...Object.entries(questions).map(([name, timing]) =>
      compareWithBare(`${name}, ${spelt}`, { timing, bare: startOfQuestions }),
    ),
    compareLongWithBare(`files --all, ${spelt}`, { timing: files, bare: startOfFiles }, 0.5),
    describePeak(`memory: files --all, ${spelt}`, measurePeakMemory(handover(place, ['files', '--all']), folder), 150),
    describePeak(`memory: search, ${spelt}`, measurePeakMemory(ask(['recon table login']), folder), 200),
  ];
}

/**
 * @param {import('./run-command.mjs').Command} command
 * @returns {Timing}
 */
function timeOnce(command) {
  const time = timeCommand(command);
  return { min: time, median: time, rounds: 1 };
}

/**
 * As far from the fastest query as from the slowest.
 * @param {readonly Timing[]} timings
 * @returns {Timing}
 */
function takeMiddle(timings) {
  return takeAt(timings, Math.floor((timings.length - 1) / 2));
}

/** @param {readonly Timing[]} timings */
function takeSlowest(timings) {
  return takeAt(timings, timings.length - 1);
}

/**
 * @param {readonly Timing[]} timings
 * @param {number} at
 * @returns {Timing}
 */
function takeAt(timings, at) {
  const pick = (/** @type {'min' | 'median'} */ key) =>
    timings.map((timing) => timing[key]).sort((a, b) => a - b)[at] ?? Number.NaN;
  return { min: pick('min'), median: pick('median'), rounds: timings[0]?.rounds ?? 0 };
}
