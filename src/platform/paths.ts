import { lstatSync, realpathSync } from 'node:fs';
import { isAbsolute, join, resolve, sep } from 'node:path';
import { HandoverError, hasErrno } from '../errors.ts';
import { isFolder, resolveRealPath } from './folders.ts';
import type { Machine } from './machine.ts';
import { PROJECT_SETTINGS } from './project-file.ts';

export const FOLDER_NAME = 'agent-handover';

/** The folder of locks, below the folder of handovers. */
export const LOCKS = 'locks';

/** Where programs of ours are kept as they were compiled, below the folder of handovers. */
export const CODE_FOLDER = ['ready', 'code'] as const;

type Surroundings = Pick<Machine, 'env' | 'platform' | 'home' | 'cwd'>;

/** Where handovers are kept, as the environment names it. Null where there is no home. */
export function nameDataFolder({ env, platform, home, cwd }: Surroundings): string | null {
  if (env.HANDOVER_HOME) return resolve(cwd, env.HANDOVER_HOME);
  const parent = nameParent({ env, platform, home });
  return parent === null ? null : join(parent, FOLDER_NAME);
}

function nameParent({ env, platform, home }: Omit<Surroundings, 'cwd'>): string | null {
  const below = (...parts: string[]): string | null => (home === undefined ? null : join(home, ...parts));
  if (platform === 'darwin') return below('Library', 'Application Support');
  if (platform === 'win32') return env.LOCALAPPDATA ?? below('AppData', 'Local');
  return isAbsolutePath(env.XDG_DATA_HOME) ? env.XDG_DATA_HOME : below('.local', 'share');
}

/** The XDG rules: a relative path in a variable is to be ignored. */
export function isAbsolutePath(value: string | undefined): value is string {
  return value !== undefined && isAbsolute(value);
}

/** With `~` for the home folder, so that what is kept does not tell who the user is. */
export function abbreviateHome(path: string, machine: Machine): string {
  if (machine.home === undefined) return path;
  for (const home of [machine.home, resolveRealPath(machine.home)]) {
    if (path === home) return '~';
    if (home !== null && path.startsWith(`${home}${sep}`))
      return `~/${toSlashes(path.slice(home.length + 1))}`;
  }
  return path;
}

/** Undoes `abbreviateHome` on the machine where it is asked. */
export function expandHome(path: string, machine: Machine): string {
  if (machine.home === undefined || !/^~(?:\/|$)/.test(path)) return path;
  return join(machine.home, path.slice(1));
}

export function toSlashes(path: string): string {
  return sep === '/' ? path : path.split(sep).join('/');
}

/** Where handovers are kept. `HANDOVER_HOME` names the folder itself; a link given there, or on the way, is resolved once. */
export function findDataFolder(machine: Machine): string {
  return realFolder(nameDataFolder(machine) ?? requireHome(machine));
}

/** Where the user's own settings, keys and trust list are. */
export function findConfigFolder(machine: Machine): string {
  return join(findConfigHome(machine), FOLDER_NAME);
}

/** Where programs of this user keep settings: session-handoff's store is below it. */
export function findConfigHome(machine: Machine): string {
  const { env, platform } = machine;
  if (platform === 'darwin') return join(requireHome(machine), 'Library', 'Application Support');
  if (platform === 'win32') return env.APPDATA ?? join(requireHome(machine), 'AppData', 'Roaming');
  return isAbsolutePath(env.XDG_CONFIG_HOME) ? env.XDG_CONFIG_HOME : join(requireHome(machine), '.config');
}

function requireHome(machine: Machine): string {
  if (machine.home !== undefined) return machine.home;
  throw new HandoverError('HANDOVER_HOME_UNKNOWN', 'there is no home folder to keep handovers in', {
    hint: 'Set HANDOVER_HOME to a folder of your own.',
  });
}

function realFolder(path: string): string {
  try {
    const real = realpathSync.native(path);
    if (isFolder(real)) return real;
    throw notAFolder(path);
  } catch (error) {
    if (hasErrno(error, 'ENOTDIR', 'ELOOP')) throw notAFolder(path, error);
    if (!hasErrno(error, 'ENOENT')) throw error;
    const now = lstatSync(path, { throwIfNoEntry: false });
    if (now === undefined) return path;
    if (now.isSymbolicLink()) throw notAFolder(path, error);
    // Another process made it after the first look.
    return realFolder(path);
  }
}

function notAFolder(path: string, cause?: unknown): HandoverError {
  return new HandoverError('HANDOVER_PATH_UNSAFE', `${path} is not a folder`, {
    hint: 'Handovers are kept there. Move away what stands in its place, or set HANDOVER_HOME to another folder.',
    cause,
  });
}

const NAME = 'config.toml';

/** A file of its own, so that a hook can look whether settings have changed without what it takes to read them. */
export function pathOfUserConfig(machine: Machine): string {
  return join(findConfigFolder(machine), NAME);
}

export function pathOfProjectConfig(root: string): string {
  return join(root, PROJECT_SETTINGS, NAME);
}
