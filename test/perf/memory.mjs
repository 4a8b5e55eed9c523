import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareWithBare, compareWithOther } from './line.mjs';
import { runRounds } from './rounds.mjs';
import { bareNode, handover, readCommand } from './run-command.mjs';

/** @typedef {import('./line.mjs').Line} Line */
/** @typedef {import('./run-command.mjs').Place} Place */

const NOTES = 5000;

const STEPS = `
[[step]]
kind = "note"

[[step]]
kind = "note"
name = "another_note"

[[step]]
kind = "current_state"

[[step]]
kind = "compact"
`;

/**
 * @param {string} folder
 * @param {{ rounds: number }} ask
 * @returns {Line[]}
 */
export function measureMemory(folder, { rounds }) {
  const few = makePlace(folder, 'memory-few', 10);
  const many = makePlace(folder, 'memory-many', NOTES);
  const fresh = makePlace(folder, 'memory-run', 0);
  writeFileSync(join(fresh.cwd, 'handover.toml'), STEPS);
  const { bare, check, run, resumeFew, resumeMany } = runRounds(
    {
      bare: { command: bareNode(few) },
      check: { command: handover(few, ['check']) },
      run: { command: handover(fresh, ['run', '--note', 'The tests pass.']) },
      resumeFew: { command: handover(few, ['resume']) },
      resumeMany: { command: handover(many, ['resume']) },
    },
    rounds,
  );
  return [
    compareWithBare('check', { timing: check, bare }, 8),
    compareWithBare('run of four local steps', { timing: run, bare }, 40),
    compareWithBare(`resume with ${NOTES.toLocaleString('en')} notes`, { timing: resumeMany, bare }, 60),
    compareWithOther(`resume, latest of ${NOTES.toLocaleString('en')} notes / of 10`, {
      timing: resumeMany,
      other: resumeFew,
    }),
  ];
}

/**
 * A project outside git with notes of two years and one handover.
 * @param {string} folder
 * @param {string} name
 * @param {number} notes
 * @returns {Place}
 */
function makePlace(folder, name, notes) {
  const home = join(folder, name, 'home');
  const cwd = join(home, 'project');
  mkdirSync(cwd, { recursive: true });
  const place = { home, cwd, store: join(folder, name, 'store') };
  for (let at = 0; at < notes; at++) {
    const month = `${2024 + Math.floor((at % 24) / 12)}-${String((at % 12) + 1).padStart(2, '0')}`;
    const date = `${month}-${String((Math.floor(at / 24) % 28) + 1).padStart(2, '0')}`;
    const path = join(cwd, 'memory', 'layer1', month);
    mkdirSync(path, { recursive: true });
    const tag = `tag-${Math.floor(at / 672)}`;
    writeFileSync(join(path, `${tag}-${date}.md`), `<!-- agent-handover | layer1 | ${date} -->\nNote ${at}\n`);
  }
  readCommand(handover(place, ['save', '--title', 'The work', '--next', 'Go on']));
  return place;
}
