import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../bin/handover.cjs', import.meta.url));
const HOOK = fileURLToPath(new URL('../../bin/hook.cjs', import.meta.url));

/**
 * A program to start, with nothing of the caller's environment but PATH: what is set there can cost more than the
 * command itself.
 * @typedef {object} Command
 * @property {string} [program] Node if left out.
 * @property {readonly string[]} args What follows it.
 * @property {string} cwd
 * @property {Readonly<Record<string, string>>} env
 * @property {string} [input] What it reads; without it, nothing.
 * @property {number} [status] How it is to end; well if left out.
 */

/**
 * @typedef {object} Place Where commands run.
 * @property {string} home
 * @property {string} store
 * @property {string} cwd
 */

/**
 * @param {Place} place
 * @returns {Command}
 */
export function bareNode(place) {
  return { args: ['-e', '0'], cwd: place.cwd, env: makeEnv(place) };
}

/**
 * @param {Place} place
 * @param {readonly string[]} words
 * @param {Readonly<Record<string, string>>} [env]
 * @returns {Command}
 */
export function handover(place, words, env = {}) {
  return { args: [BIN, ...words], cwd: place.cwd, env: { ...makeEnv(place), ...env } };
}

/**
 * A hook as an agent calls it.
 * @param {Place} place
 * @param {string} event
 * @param {object} input
 * @returns {Command}
 */
export function hook(place, event, input) {
  const args = [HOOK, 'claude-code', event];
  return { args, cwd: place.cwd, env: makeEnv(place), input: JSON.stringify({ cwd: place.cwd, ...input }) };
}

/** @param {Place} place */
function makeEnv({ home, store }) {
  return { PATH: process.env.PATH ?? '', HOME: home, HANDOVER_HOME: store };
}

/**
 * How long a command took from its start to its end, in milliseconds. A command that ends otherwise than it should ends the
 * whole run: its time would mean nothing.
 * @param {Command} command
 */
export function timeCommand({ program = process.execPath, args, cwd, env, input, status: expected = 0 }) {
  const start = process.hrtime.bigint();
  const { status, error } = spawnSync(program, args, {
    cwd,
    env,
    ...(input === undefined ? { stdio: 'ignore' } : { input, stdio: ['pipe', 'ignore', 'ignore'] }),
  });
  const elapsed = Number(process.hrtime.bigint() - start) / 1e6;
  if (status !== expected) throw new Error(`${program} ${args.join(' ')} ended with ${status ?? error}`);
  return elapsed;
}

/**
 * What a command prints.
 * @param {Command} command
 */
export function readCommand({ args, cwd, env, input }) {
  const { status, error, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd,
    env,
    ...(input === undefined ? {} : { input }),
    encoding: 'utf8',
    maxBuffer: 1024 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status ?? error}\n${stdout}${stderr}`);
  return stdout;
}
