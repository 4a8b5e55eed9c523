import { lstatSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Machine } from './machine.ts';
import { PROJECT_SETTINGS } from './project-file.ts';

/** A PAUSE file, which stops all automatic writing, and the reason in it. */
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
 * The first PAUSE file: the project's, the user's own, then those that settings name, where `~` is the home folder.
 * Anything at that path counts, and so does a path that cannot be checked.
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
    if (path !== null && exists(path)) return { path, why: readWhy(path) };
  }
  return null;
}

function expand(path: string, machine: Pick<Machine, 'home' | 'cwd'>): string {
  return resolve(machine.cwd, expandTilde(path, machine));
}

/** Replaces a leading `~` by the home folder. */
export function expandTilde(path: string, { home }: Pick<Machine, 'home'>): string {
  return home !== undefined && /^~(?:[\\/]|$)/.test(path) ? join(home, path.slice(1)) : path;
}

function exists(path: string): boolean {
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
