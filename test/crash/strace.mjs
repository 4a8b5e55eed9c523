import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environmentOf, PROGRAM, runProgram } from './command.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */

/** The calls that change a file system, or lead up to it. Not every machine has each of them. */
const TRACED = [
  'openat',
  'write',
  'pwrite64',
  'writev',
  'fsync',
  'fdatasync',
  'rename',
  'renameat',
  'renameat2',
  'link',
  'linkat',
  'unlink',
  'unlinkat',
  'mkdir',
  'mkdirat',
  'ftruncate',
  'close',
  'fallocate',
  'chmod',
  'fchmod',
];

/**
 * Null when strace works, after installing it where that is allowed; else why it does not.
 * @returns {string | null}
 */
export function findStraceTrouble() {
  if (process.platform !== 'linux') return 'strace is there for Linux only';
  if (tryOut() !== null && process.getuid?.() === 0) install();
  return tryOut();
}

function tryOut() {
  const { error, status, stderr } = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true'], {
    encoding: 'utf8',
  });
  if (error !== undefined) return `strace cannot be started (${error.message})`;
  return status === 0 ? null : `strace does not work here: ${stderr.trim()}`;
}

function install() {
  const aptGet = (/** @type {string[]} */ ...args) =>
    spawnSync('apt-get', args, {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  if (aptGet('install', '-y', 'strace').status === 0) return;
  aptGet('update');
  aptGet('install', '-y', 'strace');
}

/**
 * Runs a handover command under strace. Only the main thread is traced: all store calls are made there, threads and
 * children such as git do not disturb the counting, and a kill still ends the whole process.
 * @param {Box} box
 * @param {readonly string[]} args
 * @param {{ inject?: string[], everyThread?: boolean, wholeData?: boolean, program?: string | undefined }} [options]
 */
export async function straceHandover(box, args, options = {}) {
  const log = join(box.folder, 'strace.log');
  const flags = ['-qq', '-y', '-o', log, '-e', `trace=${TRACED.map((name) => `?${name}`).join(',')}`];
  if (options.everyThread) flags.push('-f');
  if (options.wholeData) flags.push('-xx', '-s', '1000000');
  for (const fault of options.inject ?? []) flags.push('-e', `inject=${fault}`);
  const ended = await runProgram('strace', [...flags, process.execPath, options.program ?? PROGRAM, ...args], {
    cwd: join(box.folder, 'project'),
    env: environmentOf(box),
  });
  return {
    ended,
    lines: readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line !== ''),
  };
}
