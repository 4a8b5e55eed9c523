import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describeEnd, environmentOf, handover } from './command.mjs';
import { forEachInParallel, sampleEvenly } from './parallel.mjs';
import { findPoints } from './points.mjs';
import { Tally } from './report.mjs';
import { copyBox, openBox, removeBox, surveyTree } from './sandbox.mjs';
import { straceHandover } from './strace.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */

/**
 * A moment at which `handover push` is killed: around one of the gits that it starts, at a call that git makes, or at one
 * of its own. With `alone`, only git is killed.
 * @typedef {{ what: string, env?: Record<string, string>, call?: { syscall: string, nth: number }, alone?: boolean }} Moment
 */

const REAL_GIT = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();

/** Stands before git on the PATH: counts the gits that are started, and kills at the one that is asked for. */
const SHIM = `#!/bin/sh
count=$(($(cat "$HOME/shim/count" 2>/dev/null || echo 0) + 1))
echo "$count" > "$HOME/shim/count"
trace="strace -qq -y -o $HOME/shim/trace.$count -e trace=$KILL_CALLS"
case "$count $KILL_WHEN" in
  "$KILL_AT before") kill -9 $PPID; exit 1 ;;
  "$KILL_AT after") ${REAL_GIT} "$@"; kill -9 $PPID; exit 1 ;;
  "$KILL_AT during") $trace -e "inject=$KILL_FAULT" ${REAL_GIT} "$@"; kill -9 $PPID; exit 1 ;;
  "$KILL_AT alone") exec $trace -e "inject=$KILL_FAULT" ${REAL_GIT} "$@" ;;
  *" record") echo "$*" >> "$HOME/shim/stages"; exec $trace ${REAL_GIT} "$@" ;;
esac
exec ${REAL_GIT} "$@"
`;

const MAX_OFF = 4;
const CALLS = ['openat', 'write', 'fsync', 'rename', 'link', 'unlink', 'mkdir', 'close'];

/** @param {Box} box @param {string} folder @param {string[]} args */
function git(box, folder, ...args) {
  const env = { PATH: process.env.PATH, HOME: box.folder, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', args, {
    cwd: join(box.folder, folder),
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** @param {Box} box @param {string} path @param {string} text */
function write(box, path, text) {
  const file = join(box.folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const OLD = 'memory/layer1/2026-10/work-2026-10-31.md';
const NOTE = 'memory/layer1/2026-11/work-2026-11-15.md';

/**
 * A clone with something staged, in which notes were added, changed and removed since the last push.
 * @param {Box} box
 */
function prepareClone(box) {
  write(box, '.gitconfig', '[user]\n  name = Ada\n  email = ada@example.invalid\n[init]\n  defaultBranch = work\n');
  write(box, '.config/agent-handover/config.toml', '[publish]\nbackend = "git"\n');
  write(box, 'shim/git', SHIM);
  chmodSync(join(box.folder, 'shim/git'), 0o755);
  git(box, '.', 'init', '--quiet', '--bare', 'remote.git');
  git(box, 'project', 'init', '--quiet');
  git(box, 'project', 'remote', 'add', 'origin', '../remote.git');
  write(box, 'project/code.txt', 'code\n');
  for (const path of [OLD, NOTE]) write(box, `project/${path}`, 'begun\n');
  git(box, 'project', 'add', '--all');
  git(box, 'project', 'commit', '--quiet', '--message', 'First');
  git(box, 'project', 'push', '--quiet', '--set-upstream', 'origin', 'work');
  write(box, 'project/code.txt', 'staged\n');
  git(box, 'project', 'add', '--all');
  write(box, `project/${NOTE}`, 'begun\nmore\n');
  write(box, 'project/HANDOFF.md', 'where things stand\n');
  rmSync(join(box.folder, 'project', OLD));
}

/** Besides, somebody else has added to the same notes on the remote. @param {Box} box */
function prepareMovedRemote(box) {
  prepareClone(box);
  git(box, '.', 'clone', '--quiet', 'remote.git', 'other');
  write(box, `other/${NOTE}`, 'begun\nof another\n');
  write(box, 'other/memory/layer2/current-state.md', 'theirs\n');
  git(box, 'other', 'add', '--all');
  git(box, 'other', 'commit', '--quiet', '--message', 'Theirs');
  git(box, 'other', 'push', '--quiet');
}

/** All that must be the same however often it was killed on the way. @param {Box} box */
function describeState(box) {
  const log = (/** @type {string} */ folder, /** @type {string} */ ref) =>
    git(box, folder, 'log', '--format=%T %an %s', ref);
  return JSON.stringify(
    {
      remote: log('remote.git', 'work'),
      here: log('project', 'HEAD'),
      known: log('project', 'origin/work'),
      status: git(box, 'project', 'status', '--porcelain'),
      index: git(box, 'project', 'ls-files', '--stage'),
      locks: surveyTree(join(box.folder, 'project', '.git'))
        .map(({ path }) => path.slice(box.folder.length))
        .filter((path) => path.endsWith('.lock') || /agent-handover\/(?!locks)/.test(path)),
    },
    null,
    1,
  );
}

/** @param {Box} box */
function shimmed(box) {
  return {
    PATH: `${join(box.folder, 'shim')}:${environmentOf(box).PATH}`,
    KILL_CALLS: CALLS.map((call) => `?${call}`).join(','),
  };
}

/**
 * Every git that an undisturbed push starts, with the calls of each that write, and its own calls.
 * @param {Box} origin
 * @returns {Promise<Moment[]>}
 */
async function findMoments(origin) {
  const box = copyBox(origin, 'push-record');
  const ended = await handover(box, ['push'], { ...shimmed(box), KILL_WHEN: 'record' });
  if (ended.status !== 0) throw new Error(`push fails undisturbed: ${describeEnd(ended)}`);
  const stages = readFileSync(join(box.folder, 'shim/stages'), 'utf8').trim().split('\n');
  const moments = stages.flatMap((stage, at) => {
    const name = stage.replace(/^.*?-c \S+ (?!-c)/, '').slice(0, 60);
    const number = String(at + 1);
    /** @type {Moment[]} */
    const around = ['before', 'after'].map((when) => ({
      what: `${when} ${number} ${name}`,
      env: { KILL_AT: number, KILL_WHEN: when },
    }));
    const lines = readFileSync(join(box.folder, `shim/trace.${number}`), 'utf8').split('\n');
    const inside = findWrites(lines, box).flatMap(({ syscall, nth, line }) =>
      ['during', 'alone'].map((when) => ({
        what: `${when} ${number} ${name}: ${line.slice(0, 120)}`,
        alone: when === 'alone',
        env: { KILL_AT: number, KILL_WHEN: when, KILL_FAULT: `${syscall}:signal=KILL:when=${nth}` },
      })),
    );
    return [...around, ...inside];
  });
  removeBox(box);
  const traced = copyBox(origin, 'push-record');
  const { lines } = await straceHandover(traced, ['push']);
  const own = findWrites(lines, traced).map(({ syscall, nth, line }) => ({
    what: `itself: ${line.slice(0, 120)}`,
    call: { syscall, nth },
  }));
  removeBox(traced);
  return [...moments, ...own];
}

/** Calls that change something in the project. @param {string[]} lines @param {Box} box */
function findWrites(lines, box) {
  const project = { folder: box.folder, store: join(box.folder, 'project') };
  return findPoints(lines, project).filter(
    ({ syscall, line, target }) =>
      target === 'store' && syscall !== 'close' && (syscall !== 'openat' || line.includes('O_CREAT')),
  );
}

/**
 * Runs a push that is killed at the moment. How often a call is made may differ a little from run to run.
 * @param {Box} origin
 * @param {Moment} moment
 */
async function runDisturbed(origin, { env, call }) {
  for (let off = 0; ; off++) {
    const box = copyBox(origin, 'push-kill');
    if (call === undefined) return { box, ended: await handover(box, ['push'], { ...shimmed(box), ...env }) };
    const inject = [`${call.syscall}:signal=KILL:when=${Math.max(1, call.nth - off)}`];
    const { ended } = await straceHandover(box, ['push'], { inject });
    if (ended.signal === 'SIGKILL' || off === MAX_OFF) return { box, ended };
    removeBox(box);
  }
}

/**
 * @param {Box} origin
 * @param {Moment} moment
 * @param {string} expected
 */
async function killOnce(origin, moment, expected) {
  const { what, alone } = moment;
  const { box, ended } = await runDisturbed(origin, moment);
  /** @type {string[]} */
  const complaints = [];
  if (!alone && ended.signal !== 'SIGKILL') complaints.push(`it was not killed: ${describeEnd(ended)}`);
  if (alone && ended.status === 70) complaints.push(describeEnd(ended));
  if (alone && ended.status === 0 && describeState(box) !== expected) complaints.push('it said done, and was not');
  const again = await handover(box, ['push']);
  if (again.status !== 0) complaints.push(`the next try fails: ${describeEnd(again)}`);
  const state = describeState(box);
  if (state !== expected) complaints.push(`it is ${state}\nand should be ${expected}`);
  const third = await handover(box, ['push', '--json']);
  if (!third.stdout.includes('"nothing new"')) complaints.push(`a third try: ${describeEnd(third)}`);
  for (const folder of ['project', 'remote.git']) git(box, folder, 'fsck', '--strict', '--no-dangling');
  return { box, complaints, what };
}

/**
 * @param {string} name
 * @param {(box: Box) => void} prepare
 * @param {number} limit
 */
async function sweepPush(name, prepare, limit) {
  const box = openBox(name);
  prepare(box);
  const whole = copyBox(box, `${name}-whole`);
  const ended = await handover(whole, ['push']);
  if (ended.status !== 0) throw new Error(`push fails undisturbed: ${describeEnd(ended)}`);
  const expected = describeState(whole);
  const moments = await findMoments(box);
  const tally = new Tally(name);
  const chosen = sampleEvenly(moments, limit);
  await forEachInParallel(chosen, async (moment) => {
    const { box: left, complaints, what } = await killOnce(box, moment, expected);
    if (complaints.length > 0) tally.fail({ at: what, line: '', complaints, kept: left.folder });
    else {
      removeBox(left);
      tally.pass();
    }
  });
  tally.end(`${chosen.length} of ${moments.length} moments`);
  removeBox(whole);
  removeBox(box);
}

/** @type {{ name: string, run: (limit: number) => Promise<void> }[]} */
export const PUSH_SWEEPS = [
  { name: 'push-git', run: (limit) => sweepPush('push-git', prepareClone, limit) },
  { name: 'push-git-moved', run: (limit) => sweepPush('push-git-moved', prepareMovedRemote, limit) },
];
