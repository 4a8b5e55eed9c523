import { computeFactId, sealHandover } from '../../dist/internals/index.mjs';

/** @typedef {() => number} Random A number from 0 to, not including, 1. */

/**
 * The same numbers for the same seed (mulberry32).
 * @param {number} seed
 * @returns {Random}
 */
export function makeRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const VERBS = ['Add', 'Fix', 'Rework', 'Remove', 'Document', 'Test', 'Speed up', 'Split', 'Rename', 'Review'];
const THINGS = [
  'the retry of failed uploads',
  'paging in the invoice list',
  'the login form',
  'currency rounding',
  'the migration of old accounts',
  'the webhook queue',
  'time zones in reports',
  'the cache of search results',
  'the CSV export',
  'permissions of guest users',
  'the nightly clean-up job',
  'error messages of the importer',
];
const REASONS = [
  'because two requests could run at once',
  'so that a slow network does not block the page',
  'after the tests had shown a wrong total',
  'since the old library is no longer maintained',
  'to keep the public interface as it is',
  'as the customer asked for in the last review',
];
const STATES = [
  'The unit tests pass; the browser tests have not been run yet.',
  'Everything is committed on the branch, nothing is pushed.',
  'One test still fails now and then, and the cause is not known.',
  'The change works on a small data set; a large one has not been tried.',
  'The types are done, the callers still use the old signature.',
];
const AGENTS = ['claude-code', 'codex', 'gemini', 'opencode', 'manual'];
const PROJECTS = ['billing', 'storefront', 'ledger', 'mailer', 'console', 'importer', 'gateway', 'reports'];
const KINDS = /** @type {const} */ (['goal', 'decision', 'constraint', 'rejected', 'next', 'next', 'file']);

/** In no generated text: a query for it looks at every handover and finds none. */
export const ABSENT_WORD = 'xylophone';
/** In about one of twelve titles. */
export const COMMON_WORD = 'webhook';

/**
 * A sealed handover of about two kilobytes, as a session with a few facts leaves it.
 * @param {string} id
 * @param {number} createdMs
 * @param {Random} random
 */
export function makeSampleHandover(id, createdMs, random) {
  const project = pick(PROJECTS, random);
  const facts = KINDS.map((kind) => makeFact(kind, random));
  return sealSample(id, createdMs, {
    project,
    agent: pick(AGENTS, random),
    title: makeSentence(random),
    summary: `${makeSentence(random)} ${pick(REASONS, random)}. ${pick(STATES, random)}`,
    facts: [...new Map(facts.map((fact) => [fact.id, fact])).values()],
  });
}

/**
 * @typedef {Pick<Parameters<typeof sealHandover>[0], 'title' | 'summary' | 'facts'> & { project: string, agent: string }} Sample
 */

/**
 * @param {string} id
 * @param {number} createdMs
 * @param {Sample} sample
 */
export function sealSample(id, createdMs, { project, agent, ...told }) {
  return sealHandover({
    schema: 'handover/1',
    id,
    created_at: new Date(createdMs).toISOString(),
    expires_at: null,
    project: { id: `p-${project.padEnd(16, '0').replace(/[ilou]/g, '0')}`, name: project, remote: null },
    session: { agent, id: null, terminal: null, model: null, transcript: null, started_at: null },
    workspace: { root: `~/work/${project}`, folder: '', worktree: null, git: null },
    ...told,
    previous: null,
    quality: null,
    redactions: [],
  });
}

/**
 * @param {(typeof KINDS)[number]} kind
 * @param {Random} random
 */
function makeFact(kind, random) {
  const text =
    kind === 'file' ? `src/${pick(PROJECTS, random)}/part-${Math.floor(random() * 1000)}.ts` : makeSentence(random);
  return {
    id: computeFactId(kind, text),
    kind,
    text,
    trust: /** @type {const} */ ('declared'),
    origin: /** @type {const} */ ('agent'),
    sources: [],
  };
}

/** @param {Random} random */
function makeSentence(random) {
  return `${pick(VERBS, random)} ${pick(THINGS, random)} (case ${Math.floor(random() * 10000)})`;
}

/**
 * @template T
 * @param {readonly T[]} items
 * @param {Random} random
 * @returns {T}
 */
export function pick(items, random) {
  return /** @type {T} */ (items[Math.floor(random() * items.length)]);
}
