import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { askHandover, handover, listIds } from './command.mjs';
import { KEY_SCENARIOS } from './key-scenarios.mjs';
import { MEMORY_SCENARIOS } from './memory-scenarios.mjs';
import { copyBox, letSettle, removeBox } from './sandbox.mjs';
import { SEARCH_SCENARIOS } from './search-scenarios.mjs';
import { TEXT_SCENARIOS } from './text-scenarios.mjs';
import { writeTurn } from './transcript.mjs';
import { WORKER_SCENARIO } from './worker-scenario.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */
/** @typedef {import('./command.mjs').Ended} Ended */

/**
 * What became of a command that was disturbed: how it ended, what a fresh `list` shows, and where.
 * @typedef {{ ended: Ended, listed: string[], box: Box }} Outcome
 */

/**
 * A command over a store that is ready for it.
 * @typedef {object} Prepared
 * @property {string[]} args
 * @property {string} [program] Instead of `handover`.
 * @property {(outcome: Outcome) => string[] | Promise<string[]>} judge What is wrong with the outcome; an exit status of 0 is a promise.
 * @property {(ended: Ended) => string[]} [tolerate] Codes of damage that doctor may find, such as what was done on purpose.
 * @property {boolean} [open] A file was opened to others on purpose.
 */

/**
 * @typedef {object} Scenario
 * @property {string} name
 * @property {boolean} [needsIndex]
 * @property {boolean} [sweptWhole] Also in a quick run every point is tried.
 * @property {boolean} [light] It writes as others do: in a quick run fewer points are tried.
 * @property {boolean} [shortWrites] Its writes are also made to claim what they did not do.
 * @property {string[]} [inject] Faults that are there throughout.
 * @property {(box: Box) => Promise<Prepared>} prepare
 */

const SAVE = ['save', '--title', 'the work', '--summary', 'where things stand', '--next', 'go on', '--json'];

/** @type {Scenario[]} */
export const SCENARIOS = [
  {
    name: 'save-first',
    sweptWhole: true,
    shortWrites: true,
    prepare: async () => ({ args: SAVE, judge: (outcome) => judgeSave([], outcome) }),
  },
  { name: 'save', sweptWhole: true, shortWrites: true, prepare: prepareSave },
  {
    name: 'save-without-links',
    shortWrites: true,
    inject: ['?link:error=EPERM', '?linkat:error=EPERM'],
    prepare: prepareSave,
  },
  { name: 'capture', shortWrites: true, prepare: prepareCapture },
  { name: 'backfill', light: true, prepare: prepareBackfill },
  { name: 'forget', prepare: prepareForget },
  { name: 'forget-all', light: true, prepare: prepareForgetAll },
  { name: 'cleanup', light: true, prepare: prepareCleanup },
  { name: 'migrate', prepare: prepareMigrate },
  { name: 'migrate-v2', light: true, prepare: prepareMigrateV2 },
  { name: 'merge', light: true, prepare: prepareMerge },
  { name: 'refute', light: true, prepare: prepareRefute },
  { name: 'export', prepare: prepareExport },
  { name: 'report', light: true, prepare: prepareReport },
  { name: 'import', shortWrites: true, prepare: prepareImport },
  { name: 'import-replace', prepare: prepareReplace },
  { name: 'doctor-fix', prepare: prepareDoctorFix },
  { name: 'hooks-install', prepare: prepareHooksInstall },
  {
    name: 'index-missing',
    needsIndex: true,
    prepare: (box) => prepareList(box, () => rmSync(join(box.store, 'index.sqlite'))),
  },
  {
    name: 'index-damaged',
    needsIndex: true,
    prepare: (box) => prepareList(box, () => damage(join(box.store, 'index.sqlite'), 0)),
  },
  {
    name: 'index-behind',
    needsIndex: true,
    prepare: (box) => prepareList(box, async () => void (await saveSome(box, 2))),
  },
  ...KEY_SCENARIOS,
  ...MEMORY_SCENARIOS,
  ...SEARCH_SCENARIOS,
  ...TEXT_SCENARIOS,
  WORKER_SCENARIO,
];

/** @param {Box} box @param {number} count */
export async function saveSome(box, count) {
  /** @type {string[]} */
  const ids = [];
  for (let i = 1; i <= count; i++) {
    const { id } = await askHandover(box, ['save', '--title', `work ${i}`, '--summary', `part ${i}`]);
    ids.push(id);
  }
  return ids;
}

/** @param {Box} box @returns {Promise<Prepared>} */
async function prepareSave(box) {
  const before = await saveIndexed(box);
  return { args: SAVE, judge: (outcome) => judgeSave(before, outcome) };
}

/**
 * What it might follow is not among the newest, and the index is behind, so that it is brought up to date first.
 * @param {Box} box
 * @returns {Promise<Prepared>}
 */
async function prepareCapture(box) {
  const before = [...(await saveIndexed(box)), ...(await saveSome(box, 4))];
  writeFileSync(
    join(box.folder, 'session.jsonl'),
    writeTurn(0, ['Make the upload retry when it is busy', 'We use backoff.']),
  );
  letSettle(box);
  return {
    args: ['capture', '--agent', 'claude-code', '--transcript', '../session.jsonl', '--json'],
    judge: (outcome) => judgeSave(before, outcome),
  };
}

/**
 * However it is disturbed, the next one captures what is left, and no session twice.
 * @param {Box} box
 * @returns {Promise<Prepared>}
 */
async function prepareBackfill(box) {
  const before = await saveIndexed(box);
  const folder = join(box.folder, '.claude', 'projects', '-app');
  mkdirSync(folder, { recursive: true });
  for (const number of [1, 2, 3]) {
    const turn = writeTurn(0, [`Make the upload ${number} retry`, `The upload ${number} retries.`]);
    writeFileSync(join(folder, `aaaaaaaa-0000-4000-8000-00000000000${number}.jsonl`), turn);
  }
  letSettle(box);
  return {
    args: ['backfill', '--json'],
    judge: async ({ ended, listed, box: own }) => {
      const lost = before.filter((id) => !listed.includes(id)).map((id) => `${id} is gone`);
      if (ended.status === 0 && listed.length !== before.length + 3) lost.push(`it left ${listed.length} handovers`);
      await askHandover(own, ['backfill']);
      const after = await listIds(own);
      return after.length === before.length + 3 ? lost : [...lost, `the next one left ${after.length} handovers`];
    },
  };
}

/** The other line of work comes from another store of the same folder. @param {Box} box @returns {Promise<Prepared>} */
async function prepareMerge(box) {
  const elsewhere = { ...box, store: join(box.folder, 'elsewhere') };
  const [theirs = ''] = await saveSome(elsewhere, 1);
  const file = join(box.folder, 'theirs.handover');
  await askHandover(elsewhere, ['export', '--id', theirs, '--output', file]);
  await askHandover(box, ['import', file, '--allow-unsigned']);
  const own = await saveIndexed(box);
  return {
    args: ['merge', own.at(-1) ?? '', theirs, '--json'],
    judge: (outcome) => judgeSave([theirs, ...own], outcome),
  };
}

/** @param {Box} box */
async function saveIndexed(box) {
  const ids = await saveSome(box, 3);
  await listIds(box);
  letSettle(box);
  return ids;
}

/** @param {string[]} before @param {Outcome} outcome */
function judgeSave(before, { ended, listed }) {
  const complaints = before.filter((id) => !listed.includes(id)).map((id) => `${id} is gone`);
  const added = listed.filter((id) => !before.includes(id));
  const answered = /"id": "([^"]+)"/.exec(ended.stdout)?.[1];
  if (added.length > 1) complaints.push(`one save added ${added.length} handovers`);
  if (ended.status === 0 && answered === undefined) complaints.push('it ended well without naming an id');
  if (answered !== undefined && !added.includes(answered)) {
    complaints.push(`the acknowledged ${answered} is missing`);
  }
  return complaints;
}

/** @param {Box} box @returns {Promise<Prepared>} */
async function prepareForget(box) {
  const before = await saveIndexed(box);
  const [, leaving = ''] = before;
  const rest = before.filter((id) => id !== leaving);
  return {
    args: ['forget', leaving],
    judge: ({ ended, listed }) => {
      const done = ended.status === 0 || ended.stdout.includes(leaving);
      const allowed = done ? [rest] : [before, rest];
      return expectOneOf(allowed, listed);
    },
  };
}

/** @param {Box} box @returns {Promise<Prepared>} */
async function prepareForgetAll(box) {
  const before = await saveIndexed(box);
  return {
    args: ['forget', '--all', '--yes'],
    judge: ({ ended, listed }) => [
      ...listed.filter((id) => ended.status === 0 || ended.stdout.includes(id)).map((id) => `${id} is still there`),
      ...listed.filter((id) => !before.includes(id)).map((id) => `${id} was never saved`),
    ],
  };
}

/**
 * Of three old handovers of one project the latest stays.
 * @param {Box} box
 * @returns {Promise<Prepared>}
 */
async function prepareCleanup(box) {
  await saveIndexed(box);
  writeFileSync(join(box.folder, 'records.json'), JSON.stringify({ version: 1, items: makeRecords() }));
  await askHandover(box, ['migrate', '--from', '../records.json']);
  const before = await listIds(box);
  letSettle(box);
  const { removed } = await askHandover(box, ['cleanup', '--dry-run']);
  const steps = [0, 1, 2].map((gone) => before.filter((id) => !removed.slice(0, gone).includes(id)));
  return {
    args: ['cleanup', '--json'],
    judge: ({ ended, listed }) => expectOneOf(ended.status === 0 ? steps.slice(-1) : steps, listed),
  };
}

/**
 * Two envelopes of handoff V2.
 * @param {Box} box
 * @returns {Promise<Prepared>}
 */
async function prepareMigrateV2(box) {
  const before = await saveSome(box, 1);
  writeFileSync(
    join(box.folder, 'session.jsonl'),
    writeTurn(0, ['Make the upload retry when it is busy', 'We use backoff.']),
  );
  const folder = join(box.folder, 'project', '.claude', 'state', 'handoff');
  mkdirSync(folder, { recursive: true });
  const print = ['capture', '--transcript', '../session.jsonl', '--print', 'v2', '--dry-run'];
  for (const name of ['a', 'b']) {
    const { stdout } = await handover(box, print);
    writeFileSync(join(folder, `${name}_handoff.json`), stdout);
  }
  letSettle(box);
  const { records } = await askHandover(box, ['migrate', '--dry-run']);
  /** @type {string[]} */
  const ids = records.map((/** @type {{ id: string }} */ record) => record.id);
  const steps = [0, 1, 2].map((taken) => [...before, ...ids.slice(0, taken)]);
  return {
    args: ['migrate', '--json'],
    judge: ({ ended, listed }) => expectOneOf(ended.stdout.includes('"imported"') ? steps.slice(-1) : steps, listed),
  };
}

/**
 * A mark that was acknowledged is in the journal.
 * @param {Box} box
 * @returns {Promise<Prepared>}
 */
async function prepareRefute(box) {
  const { id } = await askHandover(box, ['save', '--title', 'the work', '--decision', 'use a queue']);
  const [fact] = (await askHandover(box, ['show', id])).facts;
  letSettle(box);
  return {
    args: ['refute', fact.id, '--in', id, '--because', 'it did not hold', '--json'],
    judge: ({ ended, listed, box: after }) => {
      const journal = join(after.store, 'journal');
      const texts = readdirSync(journal).map((name) => readFileSync(join(journal, name), 'utf8'));
      const isNoted = texts.some((text) => text.includes(`"fact":"${fact.id}"`));
      const lost = ended.status === 0 && !isNoted ? ['the mark was acknowledged and is not there'] : [];
      return [...expectOneOf([[id]], listed), ...lost];
    },
  };
}

/** @param {Box} box @returns {Promise<Prepared>} */
async function prepareMigrate(box) {
  const before = await saveSome(box, 1);
  writeFileSync(join(box.folder, 'records.json'), JSON.stringify({ version: 1, items: makeRecords() }));
  letSettle(box);
  const args = ['migrate', '--from', '../records.json', '--json'];
  const { records } = await askHandover(box, ['migrate', '--from', '../records.json', '--dry-run']);
  /** @type {string[]} */
  const ids = records.map((/** @type {{ id: string }} */ record) => record.id);
  const steps = [0, 1, 2, 3].map((taken) => [...before, ...ids.slice(0, taken)]);
  return {
    args,
    judge: ({ ended, listed }) => {
      const done = ended.status === 0 || ended.stdout.includes('"imported"');
      return expectOneOf(done ? steps.slice(-1) : steps, listed);
    },
  };
}

/** @param {Box} box @returns {Promise<Prepared>} */
async function prepareExport(box) {
  await askHandover(box, ['keys', 'generate', '--name', 'me']);
  const before = await saveIndexed(box);
  return {
    args: ['export', '--all', '--sign', '--output', '../work.handover', '--json'],
    judge: ({ listed }) => expectOneOf([before], listed),
  };
}

/**
 * In the place of a report there is the earlier one or the new one, each whole.
 * @param {Box} box
 * @returns {Promise<Prepared>}
 */
async function prepareReport(box) {
  const args = ['report', '--all-projects', '--output', '../report.html'];
  await askHandover(box, args);
  const before = await saveIndexed(box);
  return {
    args: [...args, '--json'],
    judge: ({ ended, listed, box: { folder } }) => {
      const page = readFileSync(join(folder, 'report.html'), 'utf8');
      const isWhole = page.startsWith('<!doctype html>') && page.endsWith('</html>\n');
      const isNew = before.every((id) => page.includes(id));
      const isRight = isWhole && (isNew || ended.status !== 0);
      return [...expectOneOf([before], listed), ...(isRight ? [] : ['the report is not what it should be'])];
    },
  };
}

/**
 * A bundle of three is there in full or not at all.
 * @param {Box} box
 * @returns {Promise<Prepared>}
 */
async function prepareImport(box) {
  const ids = await packSome(box);
  for (const id of ids) await handover(box, ['forget', id]);
  const before = await saveIndexed(box);
  return {
    args: ['import', '--input', '../work.handover', '--json'],
    judge: ({ ended, listed }) => {
      const after = [...before, ...ids];
      const done = ended.status === 0 || ended.stdout.includes('"imported"');
      return expectOneOf(done ? [after] : [before, after], listed);
    },
  };
}

/** @param {Box} box @returns {Promise<Prepared>} */
async function prepareReplace(box) {
  const ids = await packSome(box);
  const before = [...ids, ...(await saveIndexed(box))];
  return {
    args: ['import', '--input', '../work.handover', '--on-conflict', 'replace', '--json'],
    judge: ({ listed }) => expectOneOf([before], listed),
  };
}

/** @param {Box} box */
async function packSome(box) {
  await askHandover(box, ['keys', 'generate', '--name', 'me']);
  const ids = await saveSome(box, 3);
  await askHandover(box, ['export', '--all', '--sign', '--output', '../work.handover']);
  return ids;
}

function makeRecords() {
  return [1, 2, 3].map((i) => ({
    id: `20250101-00000${i}-aaa${i}`,
    created_at: `2025-01-01T00:00:0${i}Z`,
    tool: 'codex',
    project: '/nowhere/app',
    title: `old work ${i}`,
    summary: `an old summary ${i}`,
    next: ['one', 'two'],
    changed: ['a.ts'],
  }));
}

/**
 * The settings of the user are whole at every moment, with the hooks or without, and can be brought back.
 * @param {Box} box
 * @returns {Promise<Prepared>}
 */
async function prepareHooksInstall(box) {
  const args = ['hooks', 'install', '--agent', 'claude-code', '--json'];
  mkdirSync(join(box.folder, '.claude'));
  writeFileSync(settingsOf(box), SETTINGS, { mode: 0o640 });
  const trial = copyBox(box, 'hooks-trial');
  await askHandover(trial, args.slice(0, -1));
  const installed = readFileSync(settingsOf(trial), 'utf8');
  removeBox(trial);
  return {
    args,
    judge: async ({ ended, box: left }) => {
      const found = readFileSync(settingsOf(left), 'utf8');
      const allowed = ended.status === 0 ? [installed] : [installed, SETTINGS];
      const complaints = allowed.includes(found) ? [] : [`the settings are: ${found}`];
      await askHandover(left, ['hooks', 'uninstall']);
      if (readFileSync(settingsOf(left), 'utf8') !== SETTINGS) complaints.push('uninstalling did not bring them back');
      const leftovers = readdirSync(join(left.folder, '.claude')).filter((name) => name !== 'settings.json');
      return [...complaints, ...leftovers.map((name) => `${name} is left beside the settings`)];
    },
  };
}

const SETTINGS = '{\r\n\t"theme": "dark", // mine\r\n\t"hooks": { "Stop": [ ] },\r\n}';

/** @param {Box} box */
function settingsOf(box) {
  return join(box.folder, '.claude', 'settings.json');
}

/** @param {Box} box @returns {Promise<Prepared>} */
async function prepareDoctorFix(box) {
  const ids = await saveSome(box, 5);
  const [, , open = '', damaged = '', leaving = ''] = ids;
  const month = dirname(pathOf(box, open));
  damage(pathOf(box, damaged), 40);
  await listIds(box);
  chmodSync(pathOf(box, open), 0o644);
  mkdirSync(join(box.store, 'leaving'), { mode: 0o700 });
  renameSync(pathOf(box, leaving), join(box.store, 'leaving', `${leaving}.json`));
  writeFileSync(join(month, `.${open}.json.00000000-1-1.0.tmp`), '{"schema":"hand', { mode: 0o600 });
  const [journal = ''] = readdirSync(join(box.store, 'journal'));
  appendFileSync(join(box.store, 'journal', journal), '{"schema":"journal/1","at":"2026-\n');
  letSettle(box);
  const intact = ids.slice(0, 3);
  return {
    args: ['doctor', '--fix', '--json'],
    open: true,
    tolerate: ({ status }) => (status === 0 ? [] : ['damaged-handover', 'damaged-journal-line']),
    judge: ({ listed }) => expectOneOf([intact], listed),
  };
}

/**
 * @param {Box} box
 * @param {() => void | Promise<void>} change
 * @returns {Promise<Prepared>}
 */
async function prepareList(box, change) {
  await saveIndexed(box);
  await change();
  letSettle(box);
  const before = await listIds(box, { HANDOVER_SQLITE: 'none' });
  return {
    args: ['list', '--limit', '0', '--json'],
    judge: ({ ended, listed }) => [
      ...expectOneOf([before], listed),
      ...(ended.status === 0 ? expectOneOf([before], readIds(ended.stdout)) : []),
    ],
  };
}

/** @param {string} text */
function readIds(text) {
  return JSON.parse(text).map((/** @type {{ id: string }} */ row) => row.id);
}

/** @param {Box} box @param {string} id */
function pathOf(box, id) {
  return join(box.store, 'handovers', id.slice(0, 4), id.slice(4, 6), `${id}.json`);
}

/** @param {string} path @param {number} from */
function damage(path, from) {
  const bytes = readFileSync(path);
  bytes.fill(0x00, from, from + 20);
  writeFileSync(path, bytes);
}

/** @param {string[][]} allowed @param {string[]} listed */
function expectOneOf(allowed, listed) {
  const key = (/** @type {string[]} */ ids) => [...ids].sort().join(' ');
  if (allowed.some((ids) => key(ids) === key(listed))) return [];
  return [`listed are [${key(listed)}], allowed is [${allowed.map(key).join('] or [')}]`];
}

/** Whether this Node has an SQLite for the index. @param {Box} box */
export async function hasIndex(box) {
  const ended = await handover(box, ['doctor', '--json']);
  return JSON.parse(ended.stdout).sqlite !== 'none';
}
