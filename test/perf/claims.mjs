import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  computeFactId,
  describeMachine,
  describePlace,
  findChanges,
  sealHandover,
} from '../../dist/internals/index.mjs';

/** @typedef {import('./line.mjs').Line} Line */

const CLAIMS = 100;
const LINES_OF_A_FILE = 200;

/**
 * What `resume` does more for a handover with files to look at again than for one without.
 * @param {string} folder
 * @param {{ rounds: number }} ask
 * @returns {Line[]}
 */
export function measureClaims(folder, { rounds }) {
  const root = join(folder, 'claims');
  const git = (/** @type {string[]} */ ...words) => execFileSync('git', ['-C', root, ...words], { stdio: 'ignore' });
  mkdirSync(join(root, 'src'), { recursive: true });
  git('init', '-q');
  const facts = Array.from({ length: CLAIMS }, (_, at) => writeFile(root, at));
  git('add', '-A');
  git('-c', 'user.name=bench', '-c', 'user.email=bench@localhost', 'commit', '-qm', 'all of it');
  const machine = { ...describeMachine(), home: folder, env: { PATH: process.env.PATH ?? '' } };
  const place = describePlace(root, machine);
  const draft = {
    schema: /** @type {const} */ ('handover/1'),
    id: '20260131-120000-aaaa',
    created_at: '2026-01-31T12:00:00.000Z',
    expires_at: null,
    project: place.project,
    session: { agent: 'manual', id: null, terminal: null, model: null, transcript: null, started_at: null },
    workspace: place.workspace,
    title: 'The work on all parts',
    summary: '',
    previous: null,
    quality: null,
    redactions: [],
  };
  const [claiming, plain] = [sealHandover({ ...draft, facts }), sealHandover({ ...draft, facts: [] })];
  const times = Array.from({ length: rounds + 1 }, () => {
    const [without, more] = [plain, claiming].map((handover) => {
      // Of this process alone: git, which both ask, takes as long for either.
      const before = process.cpuUsage();
      findChanges(handover, place, machine);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    });
    return (more ?? 0) - (without ?? 0);
  });
  // A command is a fresh process: the first time, with code that is not compiled yet, is what it takes.
  const sorted = times.slice(1).sort((a, b) => a - b);
  const line = { unit: /** @type {const} */ ('ms over node'), limit: 15 };
  return [
    { ...line, name: `resume: ${CLAIMS} claims, the first time`, min: times[0] ?? 0, median: times[0] ?? 0, rounds: 1 },
    {
      ...line,
      name: `resume: ${CLAIMS} claims, again`,
      min: sorted[0] ?? 0,
      median: sorted[sorted.length >> 1] ?? 0,
      rounds,
    },
  ];
}

/** @param {string} root @param {number} at */
function writeFile(root, at) {
  const path = `src/part-${at}.ts`;
  const names = Array.from({ length: LINES_OF_A_FILE }, (_, line) => `value${at}_${line}`);
  const content = names.map((name, line) => `export const ${name} = ${line};\n`).join('');
  writeFileSync(join(root, path), content);
  return {
    id: computeFactId('file', path),
    kind: /** @type {const} */ ('file'),
    text: path,
    trust: /** @type {const} */ ('declared'),
    origin: /** @type {const} */ ('agent'),
    sources: [],
    probe: { path, sha256: createHash('sha256').update(content).digest('hex'), names: names.slice(0, 5) },
  };
}
