import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { askHandover, describeEnd, handover, listIds } from './command.mjs';
import { copyBox, letSettle, removeBox, surveyTree } from './sandbox.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */
/** @typedef {import('./scenarios.mjs').Scenario} Scenario */
/** @typedef {import('./scenarios.mjs').Prepared} Prepared */
/** @typedef {import('./scenarios.mjs').Outcome} Outcome */

/*
 * Commands that write into a project. However they are disturbed, calling them once more leaves the same files as if
 * they had never been.
 */

const STEPS = [
  'kind = "note"',
  'kind = "current_state"',
  'kind = "snapshot"',
  'kind = "compact"',
  'kind = "export"\nformat = "json"\noutput = "shared.json"',
];

/** @type {Scenario[]} */
export const MEMORY_SCENARIOS = [
  { name: 'run', prepare: (box) => prepareProject(box, ['run', '--note', 'what happened']) },
  { name: 'snapshot', prepare: (box) => prepareProject(box, ['snapshot', '--mode', 'build']) },
  { name: 'compact', prepare: (box) => prepareProject(box, ['compact']) },
  { name: 'auto', prepare: (box) => prepareProject(box, ['auto']) },
];

/**
 * A project with a state, notes of a month that is over, a HANDOFF.md by hand and a run that its user declared.
 * @param {Box} box
 * @param {string[]} args
 * @returns {Promise<Prepared>}
 */
async function prepareProject(box, args) {
  const project = join(box.folder, 'project');
  if (args[0] === 'run') makeRepository(project);
  await askHandover(box, ['save', '--title', 'the work', '--decision', 'use one queue', '--next', 'go on']);
  put(
    join(box.folder, '.config', 'agent-handover', 'config.toml'),
    STEPS.map((step) => `[[step]]\n${step}\n`).join(''),
  );
  put(join(project, 'HANDOFF.md'), 'written by hand');
  put(
    join(project, 'memory', 'layer2', 'current-state.md'),
    '<!-- agent-handover | layer2 | 2026-01-02 -->\nas it was',
  );
  for (const day of ['02', '03']) {
    const text = `<!-- agent-handover | layer1 | 2026-01-${day} -->\nWorked.\n\n- [ ] open on day ${day}\n`;
    put(join(project, 'memory', 'layer1', '2026-01', `api-2026-01-${day}.md`), text);
  }
  await listIds(box);
  letSettle(box);
  const undisturbed = copyBox(box, 'undisturbed');
  const ended = await handover(undisturbed, args);
  if (ended.status !== 0) throw new Error(`${args.join(' ')}: ${describeEnd(ended)}`);
  const expected = describeProject(undisturbed);
  removeBox(undisturbed);
  return { args, judge: (outcome) => judge(outcome, args, expected) };
}

/**
 * @param {Outcome} outcome
 * @param {string[]} args
 * @param {Map<string, string>} expected
 */
async function judge({ ended, box }, args, expected) {
  const complaints = [];
  const isRun = args[0] === 'run';
  const check = await handover(box, ['check']);
  const answers = isRun ? (ended.status === 0 ? [2] : [0, 1, 2]) : [0];
  if (check.status === null || !answers.includes(check.status))
    complaints.push(`check says ${check.status}, after ${describeEnd(ended)}`);
  if (!isRun || check.status !== 2) {
    const again = await handover(box, check.status === 1 ? ['run', '--resume'] : args);
    if (again.status !== 0) complaints.push(`once more: ${describeEnd(again)}`);
  }
  const found = describeProject(box);
  // Where the disk refused to remove a temp file of a command that else succeeded, the next writer there sweeps it up.
  if (ended.status === 0) for (const path of found.keys()) if (path.endsWith('.tmp')) found.delete(path);
  return [...complaints, ...compare(expected, found)];
}

/** @param {Map<string, string>} expected @param {Map<string, string>} found */
function compare(expected, found) {
  const paths = [...new Set([...expected.keys(), ...found.keys()])].sort();
  return paths
    .filter((path) => expected.get(path) !== found.get(path))
    .map((path) => `${path} should be ${expected.get(path) ?? 'absent'} but is ${found.get(path) ?? 'absent'}`);
}

/**
 * Every file of the project and every document that was kept, without what differs from run to run. What a killed writer
 * left in the store is the doctor's to clear.
 * @param {Box} box
 */
function describeProject(box) {
  /** @type {Map<string, string>} */
  const files = new Map();
  for (const top of [join(box.folder, 'project'), join(box.store, 'documents')])
    for (const { path, isFile } of surveyTree(top))
      if (isFile && !/\/\.(?:locks|git)\//.test(path) && !(path.startsWith(box.store) && path.endsWith('.tmp')))
        files.set(generalize(relative(box.folder, path), box), describeFile(path, box));
  return files;
}

/** @param {string} path @param {Box} box */
function describeFile(path, box) {
  const text = readFileSync(path, 'utf8');
  if (!path.endsWith('checkpoint.json')) return generalize(text, box);
  const { status, steps } = JSON.parse(text);
  return JSON.stringify({ status, steps });
}

/** @param {string} text @param {Box} box */
function generalize(text, box) {
  return text
    .replaceAll(box.folder, 'BOX')
    .replace(/p-[0-9a-z]{16}/g, 'PROJECT')
    .replace(/\d{4}-\d\d-\d\dT\d\d:?\d\d:?[\d.]+(?:Z|\+00:00)/g, 'TIME')
    .replace(/\d{8}-\d{6}-[0-9a-z]{4}(?![0-9a-z])/g, 'ID')
    .replace(/\d{8}-\d{6}-/g, 'TIME-')
    .replace(/ \| n-[0-9a-z_-]+ -->/g, ' | KEY -->')
    .replace(/sha256:[0-9a-f]{64}/g, 'SUM');
}

/**
 * A project that is the same one in every copy of the box, so that its handovers are found there.
 * @param {string} folder
 */
function makeRepository(folder) {
  const git = (/** @type {string[]} */ ...args) => execFileSync('git', args, { cwd: folder, stdio: 'ignore' });
  git('init', '--quiet');
  git('remote', 'add', 'origin', 'https://example.invalid/ada/shop.git');
}

/** @param {string} path @param {string} text */
function put(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
