import { lstatSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { HandoverError } from '../errors.ts';
import { cleanLine } from '../model/text.ts';
import { removeFile, syncFolder } from './durable-file.ts';
import type { Machine } from './machine.ts';
import { ensureProjectFolder, PROJECT_SETTINGS, writeProjectFile } from './project-file.ts';

/** A file that stands in the way of all that writes by itself, and what is written in it. */
export interface Pause {
  path: string;
  why: string | null;
}

const MAX_WHY = 500;

export function pathOfProjectPause(root: string): string {
  return join(root, PROJECT_SETTINGS, 'PAUSE');
}

/** Null where there is no home folder. */
export function pathOfGlobalPause({ home }: Pick<Machine, 'home'>): string | null {
  return home === undefined ? null : join(home, '.agent_handover', 'PAUSE');
}

/**
 * The first PAUSE file there is: the project's, the user's own, then those that settings name, where `~` is the home
 * folder. Whatever stands there counts, and so does a place that cannot be looked at: a brake that cannot be seen
 * must not be taken for released.
 */
export function findPause(
  machine: Pick<Machine, 'home' | 'cwd'>,
  root: string,
  configured: readonly string[] = [],
): Pause | null {
  const paths = [
    pathOfProjectPause(root),
    pathOfGlobalPause(machine),
    ...configured.map((path) => expand(path, machine)),
  ];
  for (const path of paths) {
    if (path !== null && stands(path)) return { path, why: readWhy(path) };
  }
  return null;
}

function expand(path: string, machine: Pick<Machine, 'home' | 'cwd'>): string {
  return resolve(machine.cwd, expandTilde(path, machine));
}

/** With the home folder for a `~` at the beginning. */
export function expandTilde(path: string, { home }: Pick<Machine, 'home'>): string {
  return home !== undefined && /^~(?:[\\/]|$)/.test(path) ? join(home, path.slice(1)) : path;
}

function stands(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOTDIR');
  }
}

function readWhy(path: string): string | null {
  try {
    if (!lstatSync(path).isFile()) return null;
    const [line = ''] = readFileSync(path, 'utf8').slice(0, MAX_WHY).split('\n');
    return line.trim() === '' ? null : line.trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

export function pauseError({ path, why }: Pause): HandoverError {
  const reason = why === null ? '' : `: ${cleanLine(why)}`;
  return new HandoverError('HANDOVER_PAUSED', `automation is paused by ${path}${reason}`, {
    hint: 'When it may go on: handover unpause (or remove that file)',
    data: { path, why },
  });
}

/** The brake of one project, given by its folder, or of everything that this user runs. */
export type PauseScope = { root: string } | 'everywhere';

export function setPause(machine: Machine, reach: PauseScope, why: string): string {
  const path = pathOfPause(machine, reach);
  const folder = dirname(path);
  ensureProjectFolder(dirname(folder), basename(folder));
  writeProjectFile(path, `${cleanLine(why)}\n`);
  return path;
}

/** False when it was not set. */
export function clearPause(machine: Machine, reach: PauseScope): boolean {
  const path = pathOfPause(machine, reach);
  const wasSet = removeFile(path);
  if (wasSet) syncFolder(dirname(path));
  return wasSet;
}

function pathOfPause(machine: Machine, reach: PauseScope): string {
  const path = reach === 'everywhere' ? pathOfGlobalPause(machine) : pathOfProjectPause(reach.root);
  if (path !== null) return path;
  throw new HandoverError('HANDOVER_HOME_UNKNOWN', 'there is no home folder to put a PAUSE file in', {
    hint: 'Set HOME, or pause one project: handover pause',
  });
}
