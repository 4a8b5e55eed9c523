import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeEnd, environmentOf, listIds, runProgram } from './command.mjs';
import { letSettle } from './sandbox.mjs';
import { SESSION, writeTurn } from './transcript.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */
/** @typedef {import('./scenarios.mjs').Scenario} Scenario */
/** @typedef {import('./scenarios.mjs').Prepared} Prepared */
/** @typedef {import('./scenarios.mjs').Outcome} Outcome */

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const HOOK = join(PACKAGE, 'bin', 'hook.cjs');

/**
 * The worker of a hook. However it is disturbed, the next one leaves what an undisturbed one would have left: the session is
 * captured once, its brief is prepared, and the journal records the delivery and that it was consumed.
 * @type {Scenario}
 */
export const WORKER_SCENARIO = { name: 'worker', light: true, prepare: prepareWorker };

/**
 * A session that was captured, compacted and got its brief, and has come to the end of one more turn.
 * @param {Box} box
 * @returns {Promise<Prepared>}
 */
async function prepareWorker(box) {
  const transcript = join(box.folder, '.claude', 'projects', '-app', `${SESSION}.jsonl`);
  mkdirSync(dirname(transcript), { recursive: true });
  writeFileSync(transcript, writeTurn(0, ['Make the upload retry when it is busy', 'We use backoff.']));
  callHook(box, 'Stop', {});
  const key = findKey(box);
  await work(box, key);
  const [first = ''] = await listIds(box);
  const given = callHook(box, 'SessionStart', { source: 'compact' });
  if (!given.includes(`# Handover ${first}`)) throw new Error(`the hook gave no brief: ${given}`);
  appendFileSync(transcript, writeTurn(2, ['Never retry on 404', 'Then a 404 is final.']));
  callHook(box, 'Stop', {});
  await listIds(box);
  letSettle(box);
  return { args: ['--work', key], program: HOOK, judge: (outcome) => judge(outcome, { key, first }) };
}

/**
 * @param {Outcome} outcome
 * @param {{ key: string, first: string }} before
 */
async function judge({ ended, box }, { key, first }) {
  // Whoever was killed left its note; whoever failed said so, and the session goes on to its next moment.
  if (ended.signal === null) callHook(box, 'Stop', {});
  await work(box, key);
  const listed = await listIds(box);
  const [latest = ''] = listed;
  const complaints = [];
  if (!listed.includes(first) || listed.length !== 2)
    complaints.push(`listed are [${listed.join(' ')}], where ${first} and one more should be`);
  const left = readdirSync(join(box.store, 'spool')).filter((name) => name.endsWith('.json'));
  if (left.length > 0) complaints.push(`notes are left: ${left.join(' ')}`);
  const ready = readFileSync(join(box.store, 'ready', 'sessions', `${key}.json`), 'utf8');
  if (!ready.includes(`"handover":"${latest}"`)) complaints.push('what lies ready is not the latest');
  const journal = readJournal(box).filter(({ subject }) => subject === first);
  if (!journal.some(({ event }) => event === 'delivered')) complaints.push('the giving is not in the journal');
  if (journal.filter(({ event }) => event === 'consumed').length !== 1)
    complaints.push('it is not once in the journal that the brief was taken up');
  const given = callHook(box, 'SessionStart', { source: 'compact' });
  if (!given.includes(`# Handover ${latest}`)) complaints.push(`the latest is not given: ${given}`);
  return complaints;
}

/**
 * Calls a hook that finds nothing to start a worker with.
 * @param {Box} box
 * @param {string} event
 * @param {object} input
 */
function callHook(box, event, input) {
  const part = join(box.folder, 'part');
  cpSync(HOOK, join(part, 'bin', 'hook.cjs'));
  for (const folder of ['start', 'hook'])
    cpSync(join(PACKAGE, 'dist', folder), join(part, 'dist', folder), { recursive: true });
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(part, 'bin', 'hook.cjs'), 'claude-code', event],
    {
      env: environmentOf(box),
      input: JSON.stringify({ session_id: SESSION, cwd: '/', ...input }),
      encoding: 'utf8',
    },
  );
  rmSync(part, { recursive: true });
  if (status !== 0 || stderr !== '') throw new Error(`the hook ${event} failed: ${status} ${stderr}`);
  return stdout;
}

/** @param {Box} box @param {string} key */
async function work(box, key) {
  const ended = await runProgram(process.execPath, [HOOK, '--work', key], {
    cwd: box.folder,
    env: environmentOf(box),
  });
  if (ended.status !== 0) throw new Error(`the worker: ${describeEnd(ended)}`);
}

/** @param {Box} box */
function findKey(box) {
  const [name = ''] = readdirSync(join(box.store, 'spool'));
  return name.split('.', 1)[0] ?? '';
}

/** @param {Box} box @returns {{ event: string, subject: string }[]} */
function readJournal(box) {
  const folder = join(box.store, 'journal');
  return readdirSync(folder)
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        // A torn line, which doctor looks after.
        return [];
      }
    });
}
