import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { askHandover, listIds } from './command.mjs';
import { copyBox, letSettle, removeBox } from './sandbox.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */
/** @typedef {import('./scenarios.mjs').Scenario} Scenario */
/** @typedef {import('./scenarios.mjs').Prepared} Prepared */

/*
 * Two stores and a folder between them. However a sync is disturbed, the next ones leave both with the same handovers, once each,
 * and nothing that was forgotten.
 */

/** @type {Scenario[]} */
export const SYNC_SCENARIOS = [
  { name: 'sync-first', light: true, prepare: (box) => prepareSync(box, { isFirst: true }) },
  { name: 'sync', light: true, prepare: (box) => prepareSync(box, { isFirst: false }) },
  { name: 'offer', light: true, prepare: (box) => prepareTask(box, 'offer') },
  { name: 'take', light: true, prepare: (box) => prepareTask(box, 'take') },
  { name: 'release', light: true, prepare: (box) => prepareTask(box, 'release') },
];

const SYNC = ['sync', 'team', '--yes'];

/** The other store, in a folder of the box. @param {Box} box @returns {Box} */
function otherOf(box) {
  const folder = join(box.folder, 'other');
  return { folder, store: join(folder, 'store') };
}

/** @param {Box} box @param {{ isFirst: boolean }} options @returns {Promise<Prepared>} */
async function prepareSync(box, { isFirst }) {
  const other = otherOf(box);
  mkdirSync(join(other.folder, 'project'), { recursive: true });
  mkdirSync(join(box.folder, 'project', 'shared'));
  const ours = await enter(box, 'ada', '~/project/shared');
  const theirs = await enter(other, 'ben', join(box.folder, 'project', 'shared'));
  await askHandover(box, ['keys', 'trust', theirs, '--name', 'ben']);
  await askHandover(other, ['keys', 'trust', ours, '--name', 'ada']);
  // A note takes over what the one before it says.
  const [kept = '', gone = ''] = [await save(box, 'kept'), await save(box, 'regretted words')];
  const taken = await save(other, 'of the other');
  if (!isFirst) await askHandover(box, SYNC);
  await askHandover(other, SYNC);
  const forgotten = await save(other, 'forgotten by the other');
  if (!isFirst) {
    await askHandover(other, SYNC);
    await askHandover(box, SYNC);
    await askHandover(other, ['forget', forgotten]);
    await askHandover(other, SYNC);
    await askHandover(box, ['forget', gone]);
    await askHandover(box, ['pin', `kept`, '--in', kept]);
  } else await askHandover(other, ['forget', forgotten]);
  const added = await save(box, 'added');
  await listIds(box);
  letSettle(box);
  const expected = [kept, taken, added, ...(isFirst ? [gone] : [])].sort();
  return {
    args: [...SYNC, '--json'],
    judge: async ({ box: disturbed }) => {
      const own = copyBox(disturbed, 'next-sync');
      const [first, second] = [own, otherOf(own)];
      // The other one knows the folder under its first name.
      await askHandover(second, ['remote', 'remove', 'team']);
      await askHandover(second, ['remote', 'add', 'team', join(own.folder, 'project', 'shared')]);
      for (const one of [first, second, first, second]) await askHandover(one, SYNC);
      const complaints = [];
      for (const one of [first, second]) {
        const listed = (await listIds(one)).sort();
        if (listed.join() !== expected.join())
          complaints.push(`listed: ${listed.join(' ')}, not ${expected.join(' ')}`);
      }
      const bodies = readBodies(join(own.folder, 'project', 'shared', 'bodies'));
      if (bodies.length !== expected.length)
        complaints.push(`${bodies.length} bodies for ${expected.length} handovers`);
      if (!isFirst && bodies.some((text) => text.includes('regretted words')))
        complaints.push('forgotten words are there');
      const { sent, received } = await askHandover(first, SYNC);
      if (JSON.stringify([sent, received]).match(/[1-9]/)) complaints.push('it is not in step');
      removeBox(own);
      return complaints;
    },
  };
}

const STEPS = /** @type {const} */ (['offer', 'take', 'release']);
const STATE_AFTER = { none: null, offer: 'offered', take: 'held', release: 'released' };

/**
 * A task on its way, of one who is alone on the remote. However a step is disturbed, the task is where it was or where the
 * step leads, the step can be done again, and so can all that follow.
 * @param {Box} box
 * @param {(typeof STEPS)[number]} step
 * @returns {Promise<Prepared>}
 */
async function prepareTask(box, step) {
  mkdirSync(join(box.folder, 'project', 'shared'));
  await enter(box, 'ada', '~/project/shared');
  const id = await save(box, 'the work');
  await askHandover(box, SYNC);
  const argsOf = (/** @type {string} */ name) => [name, id, ...(name === 'take' ? ['codex', '--print'] : [])];
  const at = STEPS.indexOf(step);
  for (const earlier of STEPS.slice(0, at)) await askHandover(box, argsOf(earlier));
  await listIds(box);
  letSettle(box);
  const [before, after] = [STATE_AFTER[STEPS[at - 1] ?? 'none'], STATE_AFTER[step]];
  return {
    args: [...argsOf(step), '--json'],
    judge: async ({ ended, box: disturbed }) => {
      const own = copyBox(disturbed, `next-${step}`);
      const state = await readState(own, id);
      const allowed = ended.status === 0 ? [after] : [before, after];
      const complaints = allowed.includes(state) ? [] : [`the task is ${state}, not ${allowed.join(' or ')}`];
      for (const next of STEPS.slice(state === after ? at + 1 : at)) await askHandover(own, argsOf(next));
      const last = await readState(own, id);
      if (last !== 'released') complaints.push(`the task ends ${last}`);
      removeBox(own);
      return complaints;
    },
  };
}

/** @param {Box} box @param {string} id @returns {Promise<string | null>} */
async function readState(box, id) {
  const { state } = await askHandover(box, ['who', id]);
  return state?.state ?? null;
}

/** @param {string} folder */
function readBodies(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.'));
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
}

/** Makes keys and adds the remote; returns the public key. @param {Box} box @param {string} name @param {string} url */
async function enter(box, name, url) {
  const { public_key } = await askHandover(box, ['keys', 'generate', '--name', name]);
  await askHandover(box, ['remote', 'add', 'team', url]);
  return public_key;
}

/** @param {Box} box @param {string} title */
async function save(box, title) {
  const { id } = await askHandover(box, ['save', '--title', title, '--next', `go on with ${title}`]);
  return id;
}
