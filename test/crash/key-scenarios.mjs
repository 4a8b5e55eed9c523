import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { askHandover, describeEnd, handover } from './command.mjs';
import { configOf, copyBox, removeBox } from './sandbox.mjs';
import { SYNC_SCENARIOS } from './sync-scenarios.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */
/** @typedef {import('./scenarios.mjs').Scenario} Scenario */
/** @typedef {import('./scenarios.mjs').Prepared} Prepared */
/** @typedef {import('./scenarios.mjs').Outcome} Outcome */
/** @typedef {{ own: { public_key: string } | null, keys: { name: string, state: string, public_key: string }[] }} Listed */

/**
 * Keys are whole or not there, and what was acknowledged of them stays. What is signed with them travels.
 * @type {Scenario[]}
 */
export const KEY_SCENARIOS = [
  { name: 'redaction-key', shortWrites: true, prepare: prepareRedaction },
  { name: 'keys-generate', shortWrites: true, prepare: prepareGenerating },
  { name: 'keys-trust', shortWrites: true, prepare: prepareTrusting },
  { name: 'keys-revoke', shortWrites: true, prepare: prepareRevoking },
  ...SYNC_SCENARIOS,
];

const TOKEN = ['ghp', 'q7Zk3TfW9xB2mN5pL8rD1sV4cG6hJ0yA2uE9'].join('_');

/**
 * The first command that meets a secret makes the key of its mark. A mark that was kept is the mark of that secret for good,
 * unless the key could not be written.
 * @returns {Promise<Prepared>}
 */
async function prepareRedaction() {
  const args = ['save', '--title', 'the work', '--note', `The token is ${TOKEN}`, '--json'];
  return {
    args,
    judge: async ({ ended, listed, box: own }) => {
      const ids = ended.signal === null ? [] : listed;
      const kept = await Promise.all(ids.map(async (id) => readMark(JSON.stringify(await show(own, id)))));
      const { id } = await askHandover(own, args.slice(0, -1));
      const marks = new Set([...kept, readMark(JSON.stringify(await show(own, id)))]);
      const complaints = marks.size === 1 ? [] : [`one secret has the marks ${[...marks].join(' and ')}`];
      const { length } = readFileSync(join(own.store, 'redaction.key'));
      return length === 32 ? complaints : [...complaints, `the key has ${length} bytes`];
    },
  };
}

/** @param {Box} box @param {string} id */
async function show(box, id) {
  return await askHandover(box, ['show', id]);
}

/** @param {string} text */
function readMark(text) {
  return /\[redacted:github-token:([0-9a-z]+)\]/.exec(text)?.[1] ?? 'none';
}

/** @returns {Promise<Prepared>} */
async function prepareGenerating() {
  const args = ['keys', 'generate', '--name', 'me', '--json'];
  return {
    args,
    judge: async ({ ended, box: own }) => {
      const made = ended.status === 0 ? JSON.parse(ended.stdout).public_key : null;
      const again = await handover(own, args);
      if (again.status !== 0 && again.status !== 64) return [`again: ${describeEnd(again)}`];
      const { own: keys, keys: trusted } = await list(own);
      const complaints = [];
      if (made !== null && keys?.public_key !== made) complaints.push('the acknowledged key is gone');
      if (again.status === 0 && made !== null) complaints.push('others were made over acknowledged keys');
      if (trusted.map(({ public_key }) => public_key).join() !== keys?.public_key)
        complaints.push(`trusted are ${JSON.stringify(trusted)}`);
      const file = readFileSync(join(configOf(own), 'keys', 'signing.pub'), 'utf8');
      if (!file.includes(keys?.public_key ?? 'none')) complaints.push('signing.pub is of another key');
      return [...complaints, ...(await checkSigning(own))];
    },
  };
}

/** What is signed and locked with the keys can be opened with them. @param {Box} box */
async function checkSigning(box) {
  const { recipient } = await askHandover(box, ['keys', 'export']);
  const { id } = await askHandover(box, ['save', '--title', 'to travel']);
  const file = '../keys.handover';
  await askHandover(box, ['export', '--id', id, '--sign', '--encrypt-to', recipient, '--output', file]);
  const taken = await handover(box, ['import', '--input', file, '--on-conflict', 'skip', '--json']);
  return taken.status === 0 ? [] : [`import: ${describeEnd(taken)}`];
}

/** @param {Box} box @returns {Promise<Prepared>} */
async function prepareTrusting(box) {
  const before = await trustOne(box, 'ann');
  const key = await makeKey(box);
  return {
    args: ['keys', 'trust', key, '--name', 'bob', '--json'],
    judge: async ({ ended, box: own }) => {
      const after = [...before, `trusted ${key} bob`];
      return expectList(await describeList(own), ended.status === 0 ? [after] : [before, after]);
    },
  };
}

/** @param {Box} box @returns {Promise<Prepared>} */
async function prepareRevoking(box) {
  const before = await trustOne(box, 'ann');
  const after = before.map((line) => line.replace('trusted', 'revoked'));
  return {
    args: ['keys', 'revoke', 'ann', '--json'],
    judge: async ({ ended, box: own }) =>
      expectList(await describeList(own), ended.status === 0 ? [after] : [before, after]),
  };
}

/** @param {Box} box @param {string} name */
async function trustOne(box, name) {
  await askHandover(box, ['keys', 'trust', await makeKey(box), '--name', name]);
  return await describeList(box);
}

/** The public key of somebody else. @param {Box} box */
async function makeKey(box) {
  const other = copyBox(box, 'other');
  const { public_key } = await askHandover(other, ['keys', 'generate', '--name', 'x']);
  removeBox(other);
  return public_key;
}

/** @param {Box} box @returns {Promise<Listed>} */
async function list(box) {
  return await askHandover(box, ['keys', 'list']);
}

/** @param {Box} box */
async function describeList(box) {
  return (await list(box)).keys.map(({ state, public_key, name }) => `${state} ${public_key} ${name}`);
}

/** @param {string[]} found @param {string[][]} allowed */
function expectList(found, allowed) {
  return allowed.some((lines) => lines.join() === found.join()) ? [] : [`the list is ${found.join('; ')}`];
}
