import { lstatSync, realpathSync } from 'node:fs';
import { isAbsolute, join, resolve, sep } from 'node:path';
import { HandoverError, hasErrno } from '../errors.ts';
import { isFolder, resolveRealPath } from './folders.ts';
import type { Machine } from './machine.ts';
import { PROJECT_SETTINGS } from './project-folder.ts';

const FOLDER_NAME = 'agent-handover';

/** The folder of locks, below the data folder. */
export const LOCKS = 'locks';

/** The compiled code of our programs, below the data folder. */
export const CODE_FOLDER = ['ready', 'code'] as const;

/** The data folder that the environment names, links not resolved. Null where there is no home. */
export function nameDataFolder(machine: Omit<Machine, 'clock' | 'random'>): string | null {
  const { env, platform, home, cwd } = machine;
  if (env.HANDOVER_HOME) return resolve(cwd, env.HANDOVER_HOME);
  const below = (...parts: string[]): string | null => (home === undefined ? null : join(home, ...parts));
  let parent = isAbsolutePath(env.XDG_DATA_HOME) ? env.XDG_DATA_HOME : below('.local', 'share');
  if (platform === 'darwin') parent = below('Library', 'Application Support');
  if (platform === 'win32') parent = env.LOCALAPPDATA ?? below('AppData', 'Local');
  return parent === null ? null : join(parent, FOLDER_NAME);
}

/** The XDG rules: a relative path in a variable is to be ignored. */
function isAbsolutePath(value: string | undefined): value is string {
  return value !== undefined && isAbsolute(value);
}

/** With `~` for the home folder, so that stored paths do not reveal the user's name. */
export function abbreviateHome(path: string, machine: Machine): string {
  if (machine.home === undefined) return path;
  for (const home of [machine.home, resolveRealPath(machine.home)]) {
    if (path === home) return '~';
    if (home !== null && path.startsWith(`${home}${sep}`)) return `~/${toSlashes(path.slice(home.length + 1))}`;
  }
  return path;
}

/** Undoes `abbreviateHome`, for the home folder of this machine. */
export function expandHome(path: string, machine: Machine): string {
  if (machine.home === undefined || !/^~(?:\/|$)/.test(path)) return path;
  return join(machine.home, path.slice(1));
}

export function toSlashes(path: string): string {
  return sep === '/' ? path : path.split(sep).join('/');
}

/** The folder of the store. `HANDOVER_HOME` names the folder itself. Links are resolved. */
export function findDataFolder(machine: Machine): string {
  return realFolder(nameDataFolder(machine) ?? requireHome(machine));
}

/** Where the user's own settings, keys and trust list are. */
export function findConfigFolder(machine: Machine): string {
  return join(findConfigHome(machine), FOLDER_NAME);
}

/** The user's folder for settings of all programs: session-handoff's store is below it. */
export function findConfigHome(machine: Machine): string {
  const { env, platform } = machine;
  if (platform === 'darwin') return join(requireHome(machine), 'Library', 'Application Support');
  if (platform === 'win32') return env.APPDATA ?? join(requireHome(machine), 'AppData', 'Roaming');
  return isAbsolutePath(env.XDG_CONFIG_HOME) ? env.XDG_CONFIG_HOME : join(requireHome(machine), '.config');
}

function requireHome(machine: Machine): string {
  if (machine.home !== undefined) return machine.home;
  const hint = 'Set HANDOVER_HOME to a folder of your own.';
  throw new HandoverError('HANDOVER_HOME_UNKNOWN', 'there is no home folder to store handovers in', { hint });
}

function realFolder(path: string): string {
  try {
    const real = realpathSync.native(path);
    if (isFolder(real)) return real;
    throw notAFolderError(path);
  } catch (error) {
    if (hasErrno(error, 'ENOTDIR', 'ELOOP')) throw notAFolderError(path, error);
    if (!hasErrno(error, 'ENOENT')) throw error;
    const now = lstatSync(path, { throwIfNoEntry: false });
    if (now === undefined) return path;
    if (now.isSymbolicLink()) throw notAFolderError(path, error);
    // Another process made it after the first look.
    return realFolder(path);
  }
}

function notAFolderError(path: string, cause?: unknown): HandoverError {
  return new HandoverError('HANDOVER_PATH_UNSAFE', `${path} is not a folder`, {
    hint: 'Handovers are stored there. Move away what is in its place, or set HANDOVER_HOME to another folder.',
    cause,
  });
}

/** The user's remotes. Where the file is missing, nothing of syncing is loaded. */
export function pathOfRemotes(machine: Machine): string {
  return join(findConfigFolder(machine), 'remotes.json');
}

const NAME = 'config.toml';

export function pathOfUserConfig(machine: Machine): string {
  return join(findConfigFolder(machine), NAME);
}

export function pathOfProjectConfig(root: string): string {
  return join(root, PROJECT_SETTINGS, NAME);
}
