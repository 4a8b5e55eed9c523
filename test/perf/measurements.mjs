import { compareLongWithBare, compareWithBare, compareWithOther, describePeak } from './line.mjs';
import { measurePeakMemory } from './peak-memory.mjs';
import { runRounds } from './rounds.mjs';
import { bareNode, handover, timeCommand } from './run-command.mjs';
import { ABSENT_WORD, COMMON_WORD } from './sample-handover.mjs';
import { deleteIndex, SOME, settleIndexes } from './stores.mjs';

/** @typedef {import('./line.mjs').Line} Line */
/** @typedef {import('./run-command.mjs').Place} Place */
/** @typedef {import('./stores.mjs').Places} Places */

const SHORT_LIST = ['list', '--limit', '20'];
const WHOLE_LIST = ['list', '--json', '--limit', '0'];
const FIRST_ONE = ['list', '--limit', '1'];
/** The first message of a client; when it is answered, the server ends with its input. */
const INITIALIZE = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
})}\n`;
const WITHOUT_INDEX = { HANDOVER_SQLITE: 'none' };

/** @param {Place} place */
const save = (place) =>
  handover(place, ['save', '--summary', 'The tests pass; the page is not done.', '--next', 'Finish the page']);
/** @param {string} word */
const search = (word) => [...SHORT_LIST, '--query', word];
/** @param {number} count */
const spell = (count) => count.toLocaleString('en');

/**
 * Commands that only read, with indexes that are up to date.
 * @param {Places} places
 * @param {{ rounds: number, count: number }} ask
 * @returns {Line[]}
 */
export function measureReads({ few, many, crowded }, { rounds, count }) {
  settleIndexes([many, crowded]);
  const { bare, ...timings } = runRounds(
    {
      bare: { command: bareNode(few) },
      version: { command: handover(few, ['--version']) },
      list: { command: handover(many, SHORT_LIST) },
      crowded: { command: handover(crowded, SHORT_LIST) },
      unindexed: { command: handover(many, SHORT_LIST, WITHOUT_INDEX) },
      unindexedCrowded: { command: handover(crowded, SHORT_LIST, WITHOUT_INDEX) },
      show: { command: handover(many, ['show', 'latest']) },
      mcp: { command: { ...handover(many, ['mcp']), input: INITIALIZE } },
      common: { command: handover(many, search(COMMON_WORD)) },
    },
    rounds,
  );
  const compare = (
    /** @type {string} */ name,
    /** @type {keyof typeof timings} */ key,
    /** @type {number | null} */ limit = null,
  ) => compareWithBare(name, { timing: timings[key], bare }, limit);
  const of = `of ${spell(count)}`;
  return [
    compare('--version', 'version', 8),
    compare(`list --limit 20 ${of}`, 'list', 20),
    compare(`list --limit 20 ${of}, all in one month`, 'crowded'),
    compare(`list --limit 20 ${of}, without SQLite`, 'unindexed'),
    compare(`list --limit 20 ${of}, all in one month, without SQLite`, 'unindexedCrowded'),
    compare(`list --query, a common word ${of}`, 'common'),
    compare(`show latest ${of}`, 'show'),
    compare('mcp, from its start to initialised and ended', 'mcp', 120),
  ];
}

/**
 * @param {Places} places
 * @param {{ rounds: number, count: number }} ask
 * @returns {Line[]}
 */
export function measureSaves({ few, fewInGit, many, crowded }, { rounds, count }) {
  const { bare, inFew, inGit, inMany, inCrowded } = runRounds(
    {
      bare: { command: bareNode(few) },
      inFew: { command: save(few) },
      inMany: { command: save(many) },
      inCrowded: { command: save(crowded) },
      inGit: { command: save(fewInGit) },
    },
    rounds,
  );
  const to = `to ${spell(count)}`;
  return [
    compareWithOther(`save ${to} / save to 10`, { timing: inMany, other: inFew }, 1.2),
    compareWithOther(`save ${to}, all in one month / save to 10`, { timing: inCrowded, other: inFew }),
    compareWithBare('save to 10', { timing: inFew, bare }),
    compareWithBare(`save ${to}`, { timing: inMany, bare }),
    compareWithBare('save to 10, in a git repository', { timing: inGit, bare }),
  ];
}

/**
 * The list that finds a handover which the index does not know yet.
 * @param {Places} places
 * @param {{ rounds: number, count: number }} ask
 * @returns {Line[]}
 */
export function measureFirstLists({ few, many, crowded }, { rounds, count }) {
  const { bare, inMany, inCrowded } = runRounds(
    {
      bare: { command: bareNode(few) },
      inMany: { command: handover(many, SHORT_LIST), before: () => void timeCommand(save(many)) },
      inCrowded: { command: handover(crowded, SHORT_LIST), before: () => void timeCommand(save(crowded)) },
    },
    rounds,
  );
  const of = `of ${spell(count)}, first after a save`;
  return [
    compareWithBare(`list --limit 20 ${of}`, { timing: inMany, bare }),
    compareWithBare(`list --limit 20 ${of}, all in one month`, { timing: inCrowded, bare }),
  ];
}

/**
 * What takes long enough that a few rounds will do.
 * @param {Places} places
 * @param {{ rounds: number, count: number }} ask
 * @returns {Line[]}
 */
export function measureLongRuns({ few, some, many }, { rounds, count }) {
  settleIndexes([many]);
  const { bare, whole, absent, rebuild } = runRounds(
    {
      bare: { command: bareNode(few) },
      whole: { command: handover(many, WHOLE_LIST) },
      absent: { command: handover(many, search(ABSENT_WORD)) },
      rebuild: { command: handover(some, FIRST_ONE), before: () => deleteIndex(some) },
    },
    rounds,
  );
  const once = runRounds(
    {
      bare: { command: bareNode(few) },
      rebuild: { command: handover(many, FIRST_ONE), before: () => deleteIndex(many) },
    },
    1,
  );
  return [
    compareLongWithBare(`index rebuild of ${spell(SOME)}`, { timing: rebuild, bare }, 5),
    compareLongWithBare(`index rebuild of ${spell(count)}`, { timing: once.rebuild, bare: once.bare }),
    compareLongWithBare(`list --json --limit 0 of ${spell(count)}`, { timing: whole, bare }),
    compareLongWithBare(`list --query, an absent word of ${spell(count)}`, { timing: absent, bare }),
  ];
}

const MOST_MEGABYTES = 100;

/**
 * @param {Places} places
 * @param {{ count: number, folder: string }} ask
 * @returns {Line[]}
 */
export function measurePeaks({ few, fewInGit, some, many, crowded }, { count, folder }) {
  const peak = (
    /** @type {string} */ name,
    /** @type {import('./run-command.mjs').Command} */ command,
    /** @type {number | null} */ limit = MOST_MEGABYTES,
  ) => describePeak(`memory: ${name}`, measurePeakMemory(command, folder), limit);
  const of = `of ${spell(count)}`;
  settleIndexes([many, crowded]);
  const lines = [
    peak('node -e 0', bareNode(few), null),
    peak('--version', handover(few, ['--version'])),
    peak(`list --limit 20 ${of}`, handover(many, SHORT_LIST)),
    peak(`list --limit 20 ${of}, all in one month, without SQLite`, handover(crowded, SHORT_LIST, WITHOUT_INDEX)),
    peak(`list --query, an absent word ${of}`, handover(many, search(ABSENT_WORD))),
    peak(`list --json --limit 0 ${of}`, handover(many, WHOLE_LIST)),
    peak(`show latest ${of}`, handover(many, ['show', 'latest'])),
    peak(`save to ${spell(count)}, all in one month`, save(crowded)),
    peak(`list --limit 20 ${of}, all in one month, first after a save`, handover(crowded, SHORT_LIST), null),
    peak('save to 10, in a git repository', save(fewInGit)),
  ];
  deleteIndex(some);
  deleteIndex(many);
  return [
    ...lines,
    peak(`index rebuild of ${spell(SOME)}`, handover(some, FIRST_ONE)),
    peak(`index rebuild ${of}`, handover(many, FIRST_ONE), null),
  ];
}
