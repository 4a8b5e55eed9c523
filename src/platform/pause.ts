import { lstatSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { HandoverError } from '../errors.ts';
import { cleanLine, findFirstLine } from '../model/text.ts';
import { removeFile, syncFolder } from './durable-file.ts';
import { readHead } from './external-file.ts';
import type { Machine } from './machine.ts';
import { ensureProjectFolder, writeProjectFile } from './project-file.ts';
import { PROJECT_SETTINGS } from './project-folder.ts';

/** A PAUSE file, which stops everything that writes automatically, and the reason in it. */
export interface Pause {
  path: string;
  why: string | null;
}

const MAX_WHY = 500;
const EVERYWHERE = '.agent_handover';

/** One project, given by its folder, or everything that this user runs. */
export type PauseScope = { root: string } | 'everywhere';

/** Null without a home folder. */
function pathOfPause({ home }: Pick<Machine, 'home'>, scope: PauseScope): string | null {
  if (scope !== 'everywhere') return join(scope.root, PROJECT_SETTINGS, 'PAUSE');
  return home === undefined ? null : join(home, EVERYWHERE, 'PAUSE');
}

/** The project's, the user's, then those of the settings. Anything there counts, also what cannot be examined. */
export function findPause(
  machine: Pick<Machine, 'home' | 'cwd'>,
  root: string,
  configured: readonly string[] = [],
): Pause | null {
  const paths = [
    pathOfPause(machine, { root }),
    pathOfPause(machine, 'everywhere'),
    ...configured.map((path) => resolve(machine.cwd, expandTilde(path, machine))),
  ];
  const path = paths.find((one) => one !== null && isPresent(one)) ?? null;
  return path === null ? null : { path, why: readWhy(path) };
}

/** Replaces a leading `~` by the home folder. */
export function expandTilde(path: string, { home }: Pick<Machine, 'home'>): string {
  return home !== undefined && /^~(?:[\\/]|$)/.test(path) ? join(home, path.slice(1)) : path;
}

function isPresent(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOTDIR');
  }
}

function readWhy(path: string): string | null {
  try {
    if (!lstatSync(path).isFile()) return null;
    const text = readHead(path, MAX_WHY)?.bytes.toString('utf8') ?? '';
    return findFirstLine(text) || null;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

export function pauseError({ path, why }: Pause): HandoverError {
  const reason = why === null ? '' : `: ${cleanLine(why)}`;
  return new HandoverError('HANDOVER_PAUSED', `automation is paused by ${path}${reason}`, {
    hint: `To resume: ${suggestUnpause(path)}`,
    data: { path, why },
  });
}

/** What ends a pause. */
export function suggestUnpause(path: string): string {
  const folder = basename(dirname(path));
  if (folder === EVERYWHERE) return 'handover unpause --everywhere';
  return folder === PROJECT_SETTINGS ? 'handover unpause' : `remove ${path}`;
}

export function setPause(machine: Machine, scope: PauseScope, why: string): string {
  const path = requirePath(machine, scope);
  const folder = dirname(path);
  ensureProjectFolder(dirname(folder), basename(folder));
  writeProjectFile(path, `${cleanLine(why)}\n`);
  return path;
}

/** False when it was not set. */
export function clearPause(machine: Machine, scope: PauseScope): boolean {
  const path = requirePath(machine, scope);
  const wasSet = removeFile(path);
  if (wasSet) syncFolder(dirname(path));
  return wasSet;
}

function requirePath(machine: Machine, scope: PauseScope): string {
  const path = pathOfPause(machine, scope);
  if (path !== null) return path;
  throw new HandoverError('HANDOVER_HOME_UNKNOWN', 'there is no home folder to put a PAUSE file in', {
    hint: 'Set HOME, or pause one project: handover pause',
  });
}
