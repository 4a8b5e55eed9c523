import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { computeFactId, sealHandover } from '../../dist/internals/index.mjs';
import { writeStore } from './generate-store.mjs';
import { compareLongWithBare, describePeak } from './line.mjs';
import { measurePeakMemory } from './peak-memory.mjs';
import { runRounds } from './rounds.mjs';
import { bareNode, handover, readCommand } from './run-command.mjs';
import { makeRandom, pick } from './sample-handover.mjs';

/** @typedef {import('./line.mjs').Line} Line */
/** @typedef {import('./sample-handover.mjs').Random} Random */

const COUNT = 10_000;
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const AGENTS = ['claude-code', 'codex', 'gemini', 'opencode', 'qwen'];
const PROJECTS = ['shop', 'billing', 'search', 'pages'];
const WORDS = 'the retry of a payment must not be done twice when the gateway answers late and the order is kept'.split(
  ' ',
);

/**
 * A report of 10,000 sessions: how long it takes to write, and until Chromium shows it, all of it drawn.
 * @param {string} folder
 * @param {{ rounds: number, now: number }} ask
 * @returns {Line[]}
 */
export function measureReport(folder, { rounds, now }) {
  const place = { home: folder, store: join(folder, 'work'), cwd: folder };
  const random = makeRandom(COUNT);
  /** @type {Map<string, string>} */
  const newest = new Map();
  writeStore(place.store, { count: COUNT, span: { firstMs: now - YEAR_MS, lastMs: now } }, (stamp) =>
    makeWork(stamp, { random, newest }),
  );
  const page = join(folder, 'report.html');
  const report = handover(place, ['report', '--all-projects', '--output', page]);
  const { bare, written } = runRounds({ bare: { command: bareNode(place) }, written: { command: report } }, rounds);
  const of = `of ${COUNT.toLocaleString('en')} sessions`;
  return [
    compareLongWithBare(`report ${of}`, { timing: written, bare }),
    describePeak(`memory: report ${of}`, measurePeakMemory(report, folder), null),
    ...measurePaint(page, rounds).map(([name, times]) => ({
      name: `report ${of}: ${name}`,
      unit: /** @type {const} */ ('s'),
      ...times,
    })),
  ];
}

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/**
 * @param {string} page
 * @param {number} rounds
 * @returns {[name: string, times: Pick<Line, 'min' | 'median' | 'rounds' | 'limit'>][]}
 */
function measurePaint(page, rounds) {
  if (!existsSync(CHROMIUM)) {
    console.error(`there is no ${CHROMIUM}: the first paint is not measured`);
    return [];
  }
  const args = [join(import.meta.dirname, 'first-paint.mjs'), CHROMIUM, page, String(rounds)];
  /** @type {{ paint: number[], drawn: number[] }} */
  const { paint, drawn } = JSON.parse(
    readCommand({ args, cwd: '.', env: { PATH: process.env.PATH ?? '', HOME: join(page, '..') } }),
  );
  const summarise = (/** @type {number[]} */ times) => {
    const sorted = times.map((ms) => ms / 1000).sort((a, b) => a - b);
    return { min: sorted[0] ?? Number.NaN, median: sorted[sorted.length >> 1] ?? Number.NaN, rounds: sorted.length };
  };
  return [
    ['first paint', { ...summarise(paint), limit: 1 }],
    ['all drawn', { ...summarise(drawn), limit: null }],
  ];
}

/**
 * @param {[id: string, createdMs: number]} stamp
 * @param {{ random: Random, newest: Map<string, string> }} from
 */
function makeWork([id, createdMs], { random, newest }) {
  const name = pick(PROJECTS, random);
  const line = `${name} ${random() < 0.2 ? 'branch' : 'main'}`;
  const previous = newest.get(line) ?? null;
  newest.set(line, id);
  const say = () => Array.from({ length: 12 }, () => pick(WORDS, random)).join(' ');
  const at = new Date(createdMs).toISOString();
  const of = (/** @type {string} */ kind, /** @type {string} */ text, more = {}) => ({
    ...{ id: computeFactId(kind, text), kind, text, trust: 'quoted', origin: 'human', sources: [{ line: 1 }], ...more },
  });
  const answer = { detail: { role: 'answer' } };
  const facts = [
    of('goal', say()),
    ...[1, 2, 3].map(() => of('decision', say(), answer)),
    of('rejected', say(), answer),
    ...[1, 2, 3, 4, 5, 6].map(() => of('file', `src/part-${Math.floor(random() * 500)}.ts`, { status: 'edited' })),
    ...['npm test', 'npm run build'].map((text) => of('check', text, { status: random() < 0.2 ? 'failed' : 'ok' })),
    of('next', say(), { trust: 'declared', sources: [] }),
  ];
  return sealHandover({
    ...{ schema: 'handover/1', id, created_at: at, expires_at: null, title: 'Work', summary: '', previous },
    project: { id: `p-${name.padEnd(16, '0').replace(/[ilou]/g, '0')}`, name, remote: null },
    session: {
      ...{ agent: pick(AGENTS, random), id: `s-${id}`, terminal: null, model: null, transcript: null },
      ...{ started_at: at, last_at: at },
    },
    workspace: { root: `~/${name}`, folder: '', worktree: null, git: null },
    facts: [...new Map(facts.map((fact) => [fact.id, fact])).values()],
    ...{ quality: null, redactions: [] },
  });
}
