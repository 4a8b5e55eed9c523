import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { generateStoreOfFacts } from './generate-store.mjs';
import { compareLongWithBare, compareWithBare, describePeak } from './line.mjs';
import { measurePeakMemory } from './peak-memory.mjs';
import { runRounds } from './rounds.mjs';
import { bareNode, handover, timeCommand } from './run-command.mjs';

/** @typedef {import('./line.mjs').Line} Line */

const FACTS = 20;
const FACTS_PER_SECOND = 20_000;
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

/**
 * Searches of facts, and building the index for them.
 * @param {string} folder
 * @param {{ rounds: number, longRounds: number, count: number, now: number }} ask
 * @returns {Line[]}
 */
export function measureSearches(folder, { rounds, longRounds, count, now }) {
  const place = { home: folder, store: join(folder, 'facts'), cwd: folder };
  generateStoreOfFacts(place.store, FACTS, { count, span: { firstMs: now - YEAR_MS, lastMs: now } });
  const ask = (/** @type {string[]} */ ...words) => handover(place, ['search', '--limit', '5', ...words]);
  const forget = () => {
    for (const name of ['search.sqlite', 'search.sum']) rmSync(join(place.store, name), { force: true });
  };
  const bare = { command: bareNode(place) };
  const built = runRounds({ bare, build: { command: ask('table'), before: forget } }, longRounds);
  forget();
  const peak = measurePeakMemory(ask('table'), folder);
  // An index is looked at more closely while its files are new.
  for (let i = 0; i < 3; i++) timeCommand(ask('table'));
  const { bare: start, ...timings } = runRounds(
    {
      bare,
      words: { command: ask('recon table login') },
      mistyped: { command: ask('serverlogni tabel') },
      path: { command: ask('src/table/login-server.ts') },
      why: { command: handover(place, ['why', '--all', 'src/table']) },
      errors: { command: handover(place, ['errors', '--all', 'recon table login failed']) },
    },
    rounds,
  );
  const spelt = `${(count * FACTS).toLocaleString('en')} facts`;
  const line = (/** @type {string} */ name, /** @type {keyof typeof timings} */ key, limit = 40) =>
    compareWithBare(`${name}, ${spelt}`, { timing: timings[key], bare: start }, limit);
  return [
    compareLongWithBare(
      `search index built anew, ${spelt}`,
      { timing: built.build, bare: built.bare },
      (count * FACTS) / FACTS_PER_SECOND,
    ),
    describePeak(`memory: search index built anew, ${spelt}`, peak, 200),
    line('search, three words', 'words'),
    line('search, mistyped', 'mistyped'),
    line('search, a path', 'path'),
    line('why, a folder', 'why'),
    line('errors', 'errors'),
    describePeak(`memory: search, ${spelt}`, measurePeakMemory(ask('recon table login'), folder), 200),
  ];
}
