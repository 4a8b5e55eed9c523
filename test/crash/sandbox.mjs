import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder for one run: `store` in it is the store (it need not exist), `project` a project outside git.
 * @typedef {{ folder: string, store: string }} Box
 */

/** @type {string | undefined} */
let top;
let counter = 0;

function topFolder() {
  top ??= realpathSync(mkdtempSync(join(tmpdir(), 'handover-crash-')));
  return top;
}

/** @param {string} name */
export function openBox(name) {
  const folder = join(topFolder(), `${name}-${++counter}`);
  mkdirSync(join(folder, 'project'), { recursive: true });
  return boxAt(folder);
}

/**
 * A copy with equal names, times and modes.
 * @param {Box} box
 * @param {string} name
 */
export function copyBox(box, name) {
  const folder = join(topFolder(), `${name}-${++counter}`);
  execFileSync('cp', ['-a', box.folder, folder]);
  return boxAt(folder);
}

/** @param {Box} box */
export function removeBox(box) {
  rmSync(box.folder, { recursive: true, force: true });
}

/** Removes what is left, unless a box was kept for inspection. */
export function closeSandbox() {
  if (top !== undefined && readdirSync(top).length === 0) rmSync(top, { recursive: true });
}

/** @param {string} folder @returns {Box} */
function boxAt(folder) {
  return { folder, store: join(folder, 'store') };
}

/** Where keys and the trust list are. @param {Box} box */
export function configOf({ folder }) {
  return join(folder, '.config', 'agent-handover');
}

/**
 * Every path at and below a folder, files after their folder; none when there is no such folder.
 * @param {string} folder
 * @returns {{ path: string, mode: number, isFile: boolean }[]}
 */
export function surveyTree(folder) {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  const self = { path: folder, mode: stat.mode & 0o777, isFile: stat.isFile() };
  if (!stat.isDirectory()) return [self];
  return [self, ...readdirSync(folder).flatMap((name) => surveyTree(join(folder, name)))];
}

/**
 * Dates everything an hour back: what a command does may depend on whether a folder changed just now.
 * @param {Box} box
 */
export function letSettle(box) {
  const then = Date.now() / 1000 - 3600;
  for (const { path } of surveyTree(box.store).reverse()) utimesSync(path, then, then);
}
