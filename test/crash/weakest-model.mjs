import { createHash } from 'node:crypto';
import { copyFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeMachine, examineStore, isHandoverId, openStore, readHandover } from '../../dist/internals/index.mjs';
import { askHandover } from './command.mjs';
import { Disk, materialize } from './disk-model.mjs';
import { forEachInParallel } from './parallel.mjs';
import { findPoints } from './points.mjs';
import { readCalls } from './recorded-calls.mjs';
import { Tally } from './report.mjs';
import { openBox, removeBox, surveyTree } from './sandbox.mjs';
import { straceHandover } from './strace.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */
/** @typedef {import('./recorded-calls.mjs').Call} Call */
/** @typedef {import('./disk-model.mjs').Remains} Remains */
/** @typedef {{ states: number, damaged: string[], lost: string[] }} Verdict */

const WRITER = fileURLToPath(new URL('./writer.mjs', import.meta.url));
const SAVE = ['save', '--title', 'the work', '--summary', 'where things stand', '--json'];

/** Cuts the power, on the weakest disk that is legal, at every moment of a save: what is acknowledged is there, and whole. */
export async function checkWeakestModel() {
  await checkSave('weakest model save-first', []);
  await checkSave('weakest model save', [1]);
  await checkSaveAfterKill();
  await checkWriters();
}

/** @param {string} name @param {number[]} earlier */
async function checkSave(name, earlier) {
  const tally = new Tally(name);
  const box = openBox('model');
  for (const i of earlier) await askHandover(box, ['save', '--title', `work ${i}`]);
  const disk = new Disk(box.folder);
  const { calls, acknowledged } = await recordSave(box);
  const verdict = await replay(disk, calls, { acknowledged });
  settle(tally, box, verdict);
  tally.end(`${calls.length} calls, ${verdict.states} states`);
}

/**
 * A save that was killed leaves folders whose names are not safe yet. The next save must not take them for safe: it is
 * the one that is acknowledged.
 */
async function checkSaveAfterKill() {
  const tally = new Tally('weakest model save after a killed save');
  const trial = openBox('model');
  const { lines } = await straceHandover(trial, SAVE, {});
  const points = findPoints(lines, trial).filter(({ target }) => target === 'store');
  removeBox(trial);
  let states = 0;
  await forEachInParallel(points, async ({ syscall, nth }) => {
    const box = openBox('model');
    const disk = new Disk(box.folder);
    const inject = [`${syscall}:signal=KILL:when=${nth}`];
    const killed = await straceHandover(box, SAVE, { inject, wholeData: true });
    for (const call of readCalls(killed.lines)) disk.apply(call);
    disk.open.clear();
    const { calls, acknowledged } = await recordSave(box);
    const verdict = await replay(disk, calls, { acknowledged });
    states += verdict.states;
    settle(tally, box, verdict, inject[0]);
  });
  tally.end(`${points.length} kills, ${states} states`);
}

const WRITERS = ['sound', 'in-place', 'no-file-sync', 'no-folder-sync', 'no-parent-sync'];

/** The check itself is checked: of these writers all but the first are wrong, and must be found out. */
async function checkWriters() {
  const tally = new Tally('weakest model writers that are wrong on purpose');
  for (const way of WRITERS) {
    const box = openBox('model');
    const { id, path } = await askHandover(box, SAVE.slice(0, -1));
    const source = join(box.folder, 'source');
    copyFileSync(path, source);
    rmSync(dirname(path), { recursive: true });
    rmSync(join(box.store, 'journal'), { recursive: true });
    const disk = new Disk(box.folder);
    const recorded = await straceHandover(box, [way, source, path], { program: WRITER, wholeData: true });
    const { states, damaged, lost } = await replay(disk, readCalls(recorded.lines), { acknowledged: id });
    removeBox(box);
    console.log(`  ${way}: ${states} states, ${damaged.length} damaged, ${lost.length} lost`);
    const found = damaged.length + lost.length > 0;
    if (found === (way !== 'sound')) tally.pass();
    else
      tally.fail({
        at: way,
        line: '',
        complaints: ['the check judged it wrongly', ...damaged, ...lost],
        kept: null,
      });
  }
  tally.end(`${WRITERS.length} writers`);
}

/** @param {Box} box */
async function recordSave(box) {
  const { lines, ended } = await straceHandover(box, SAVE, { wholeData: true });
  if (ended.status !== 0) throw new Error(`save failed: ${ended.stderr}`);
  return { calls: readCalls(lines), acknowledged: String(JSON.parse(ended.stdout).id) };
}

/** @param {Tally} tally @param {Box} box @param {Verdict} verdict @param {string} [at] */
function settle(tally, box, { damaged, lost }, at = '') {
  const complaints = [...damaged, ...lost].slice(0, 5);
  removeBox(box);
  if (complaints.length === 0) tally.pass();
  else tally.fail({ at, line: '', complaints, kept: null });
}

/**
 * Looks at every state that a power cut after any of the calls may leave.
 * @param {Disk} disk
 * @param {Call[]} calls
 * @param {{ acknowledged: string }} promise
 * @returns {Promise<Verdict>}
 */
async function replay(disk, calls, { acknowledged }) {
  /** @type {Verdict} */
  const verdict = { states: 0, damaged: [], lost: [] };
  /** @type {Set<string>} */
  const seen = new Set();
  let answered = false;
  for (const [position, call] of [{ op: /** @type {const} */ ('start') }, ...calls].entries()) {
    if (call.op === 'answer') answered = true;
    if (call.op !== 'start') disk.apply(call);
    for (const remains of disk.listRemains()) {
      const key = digest(remains, answered);
      if (seen.has(key)) continue;
      seen.add(key);
      verdict.states++;
      const after = `after call ${position} (${call.op})`;
      const { damaged, ids } = await examine(remains);
      verdict.damaged.push(...damaged.map((complaint) => `${after}: ${complaint}`));
      if (answered && !ids.includes(acknowledged)) verdict.lost.push(`${after}: ${acknowledged} is lost`);
    }
  }
  return verdict;
}

/** @param {Remains} remains @param {boolean} answered */
function digest(remains, answered) {
  const hash = createHash('sha256').update(String(answered));
  for (const [path, content] of [...remains].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`\n${path}\n`).update(content ?? 'folder');
  }
  return hash.digest('hex');
}

/** @param {Remains} remains */
async function examine(remains) {
  const box = openBox('remains');
  materialize(remains, box.folder);
  const store = openStore(describeMachine({ HANDOVER_HOME: box.store, HANDOVER_SQLITE: 'none' }, box.folder));
  const { findings } = await examineStore(store);
  const damaged = findings
    .filter(({ code }) => code.endsWith('-handover'))
    .map(({ code, message }) => `${code}: ${message}`);
  const ids = surveyTree(join(box.store, 'handovers'))
    .map(({ path }) => basename(path, '.json'))
    .filter((name) => isHandoverId(name))
    .filter((id) => isReadable(store, id));
  removeBox(box);
  return { damaged, ids };
}

/** @param {import('../../dist/internals/index.mjs').Store} store @param {string} id */
function isReadable(store, id) {
  try {
    return readHandover(store, id) !== null;
  } catch {
    return false;
  }
}
