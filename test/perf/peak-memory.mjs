import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {import('./run-command.mjs').Command} Command */

const GNU_TIME = '/usr/bin/time';
const RECORDER = `
  const { writeFileSync } = require('node:fs');
  process.on('exit', () => writeFileSync(process.env.PEAK_FILE, String(process.resourceUsage().maxRSS)));
`;

/**
 * The most memory that a command, or a program it started, held at any moment, in megabytes. Asked of GNU time where
 * that is installed; else of the command itself, which then may also count what this process holds.
 * @param {Command} command
 * @param {string} folder For a file to pass the number on.
 */
export function measurePeakMemory({ args, cwd, env, status: expected = 0 }, folder) {
  const file = join(folder, 'peak');
  const options = { cwd, env: { ...env, PEAK_FILE: file }, stdio: /** @type {const} */ ('ignore') };
  const { status, error } = hasGnuTime()
    ? spawnSync(GNU_TIME, ['-f', '%M', '-o', file, process.execPath, ...args], options)
    : spawnSync(process.execPath, ['--require', writeRecorder(folder), ...args], options);
  if (status !== expected) throw new Error(`node ${args.join(' ')} ended with ${status ?? error}`);
  // GNU time tells first of a status that is not 0.
  return Number(readFileSync(file, 'utf8').trimEnd().split('\n').at(-1)) / 1024;
}

function hasGnuTime() {
  const { stdout, stderr } = spawnSync(GNU_TIME, ['--version'], { encoding: 'utf8' });
  return `${stdout}${stderr}`.includes('GNU');
}

/** @param {string} folder */
function writeRecorder(folder) {
  const path = join(folder, 'record-peak.cjs');
  writeFileSync(path, RECORDER);
  return path;
}
