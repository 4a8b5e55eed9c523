import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The command line under test, as it was built. */
export const PROGRAM = fileURLToPath(new URL('../../bin/handover.cjs', import.meta.url));

/** @typedef {import('./sandbox.mjs').Box} Box */
/** @typedef {{ status: number | null, signal: string | null, stdout: string, stderr: string }} Ended */

/** No command needs nearly as long: what is not done by then hangs. */
const LONGEST_RUN_MS = 60_000;

/**
 * The surroundings of a command: nothing of the user's own, no io_uring and no compile cache, so that every run makes
 * the same system calls and strace can see them.
 * @param {Box} box
 * @returns {Record<string, string>}
 */
export function environmentOf(box) {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: box.folder,
    HANDOVER_HOME: box.store,
    GIT_CEILING_DIRECTORIES: box.folder,
    UV_USE_IO_URING: '0',
    NODE_DISABLE_COMPILE_CACHE: '1',
  };
}

/**
 * Runs a program to its end. One that hangs is killed with all that it started, and its signal then is `TIMEOUT`.
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined> }} [options]
 * @returns {Promise<Ended>}
 */
export function runProgram(file, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, LONGEST_RUN_MS);
    /** @type {Buffer[]} */
    const out = [];
    /** @type {Buffer[]} */
    const err = [];
    child.stdout.on('data', (chunk) => out.push(chunk));
    child.stderr.on('data', (chunk) => err.push(chunk));
    child.on('error', reject);
    child.on('close', (status, signal) => {
      clearTimeout(timer);
      resolve({
        status,
        signal: timedOut ? 'TIMEOUT' : signal,
        stdout: Buffer.concat(out).toString(),
        stderr: Buffer.concat(err).toString(),
      });
    });
  });
}

/**
 * Runs `handover` in a fresh process.
 * @param {Box} box
 * @param {readonly string[]} args
 * @param {Record<string, string>} [env]
 */
export function handover(box, args, env = {}) {
  return runProgram(process.execPath, [PROGRAM, ...args], {
    cwd: join(box.folder, 'project'),
    env: { ...environmentOf(box), ...env },
  });
}

/**
 * Runs `handover ... --json` where it must succeed, and returns what it says.
 * @param {Box} box
 * @param {readonly string[]} args
 * @param {Record<string, string>} [env]
 * @returns {Promise<any>}
 */
export async function askHandover(box, args, env = {}) {
  const ended = await handover(box, [...args, '--json'], env);
  if (ended.status !== 0) throw new Error(`handover ${args.join(' ')}: ${describeEnd(ended)}`);
  return JSON.parse(ended.stdout);
}

/** @param {Ended} ended */
export function describeEnd(ended) {
  const how = ended.signal === null ? `status ${ended.status}` : `signal ${ended.signal}`;
  const words = `${ended.stderr}${ended.stderr === '' ? ended.stdout : ''}`;
  return `${how}: ${words.trim().slice(0, 600)}`;
}

/**
 * The ids that a list shows, newest first.
 * @param {Box} box
 * @param {Record<string, string>} [env]
 * @returns {Promise<string[]>}
 */
export async function listIds(box, env = {}) {
  /** @type {{ id: string }[]} */
  const rows = await askHandover(box, ['list', '--limit', '0'], env);
  return rows.map((row) => row.id);
}
