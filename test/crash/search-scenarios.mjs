import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { handover } from './command.mjs';
import { findHits, readHits } from './find-hits.mjs';
import { letSettle } from './sandbox.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */
/** @typedef {import('./scenarios.mjs').Scenario} Scenario */
/** @typedef {import('./scenarios.mjs').Prepared} Prepared */

const SEARCH = ['search', '--json', 'part'];

/**
 * Searches that build the index or bring it up to date. However one is disturbed, the next finds what the files hold.
 * @type {Scenario[]}
 */
export const SEARCH_SCENARIOS = [
  {
    name: 'search-missing',
    needsIndex: true,
    light: true,
    prepare: (box) => prepareSearch(box, async () => dropIndex(box)),
  },
  {
    name: 'search-behind',
    needsIndex: true,
    light: true,
    prepare: (box) => prepareSearch(box, () => save(box, 'part 3')),
  },
];

/**
 * @param {Box} box
 * @param {() => Promise<void>} change What the index does not know of yet.
 * @returns {Promise<Prepared>}
 */
async function prepareSearch(box, change) {
  await save(box, 'part 1');
  await save(box, 'part 2');
  await findHits(box, SEARCH);
  await change();
  letSettle(box);
  const expected = await findHits(box, SEARCH, { HANDOVER_SQLITE: 'none' });
  return {
    args: SEARCH,
    judge: async ({ ended, box: own }) => {
      const told = ended.status === 0 ? [readHits(ended.stdout)] : [];
      const found = [...told, await findHits(own, SEARCH)];
      return found.filter((hits) => hits !== expected).map((hits) => `found are ${hits}, not ${expected}`);
    },
  };
}

/** @param {Box} box @param {string} text */
async function save(box, text) {
  await handover(box, ['save', '--title', `work on ${text}`, '--decision', `${text} is done first`]);
}

/** @param {Box} box */
function dropIndex({ store }) {
  for (const name of ['search.sqlite', 'search.sum']) rmSync(join(store, name), { force: true });
}
