import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateStore, spanOfMonths } from './generate-store.mjs';
import { handover, readCommand } from './run-command.mjs';

/** @typedef {import('./run-command.mjs').Place} Place */

/**
 * @typedef {object} Places
 * @property {Place} few Ten handovers.
 * @property {Place} fewInGit Ten handovers; the project is a git repository.
 * @property {Place} some Ten thousand.
 * @property {Place} many As many as asked for, over the last 24 months.
 * @property {Place} crowded As many, all in the current month.
 */

const FEW = 10;
export const SOME = 10_000;

/**
 * @param {string} folder
 * @param {{ count: number, now: number }} ask
 * @returns {Places}
 */
export function makePlaces(folder, { count, now }) {
  const home = join(folder, 'home');
  const cwd = join(folder, 'project');
  const repository = join(folder, 'repository');
  for (const path of [home, cwd, repository]) mkdirSync(path);
  makeRepository(repository, home);
  const keep = (/** @type {string} */ name, /** @type {number} */ kept, months = 24) => {
    const store = join(folder, name);
    generateStore(store, kept, spanOfMonths(now, months));
    return { home, cwd, store };
  };
  const few = keep('few', FEW);
  assertSound(few);
  const places = {
    few,
    fewInGit: { ...keep('few-in-git', FEW), cwd: repository },
    some: keep('some', SOME),
    many: keep('many', count),
    crowded: keep('crowded', count, 0),
  };
  // What is still to be written out would otherwise be waited for by the first commands that are timed.
  spawnSync('sync');
  return places;
}

/**
 * @param {string} folder
 * @param {string} home
 */
function makeRepository(folder, home) {
  const env = { PATH: process.env.PATH ?? '', HOME: home };
  const git = (/** @type {string[]} */ ...args) => execFileSync('git', args, { cwd: folder, env, stdio: 'ignore' });
  git('init', '--initial-branch=main');
  git('config', 'user.name', 'Bench');
  git('config', 'user.email', 'bench@example.org');
  for (let i = 0; i < 50; i++) writeFileSync(join(folder, `file-${i}.txt`), `${i}\n`);
  git('add', '.');
  git('commit', '--message=Start');
  writeFileSync(join(folder, 'file-0.txt'), 'changed\n');
}

/**
 * What is generated must be what `save` would have left, or the times would be of another store.
 * @param {Place} place
 */
function assertSound(place) {
  const text = readCommand(handover(place, ['doctor']));
  if (!text.includes('all is well')) throw new Error(`the generated store is not sound:\n${text}`);
}

/** @param {Place} place */
export function deleteIndex({ store }) {
  for (const name of ['index.sqlite', 'index.sum']) rmSync(join(store, name), { force: true });
}

/** An index trusts a folder's time only when it is two seconds old. */
const SETTLED_MS = 2500;

/**
 * Leaves indexes that are up to date and know it.
 * @param {readonly Place[]} places
 */
export function settleIndexes(places) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SETTLED_MS);
  for (const place of places) readCommand(handover(place, ['list', '--limit', '1']));
}
