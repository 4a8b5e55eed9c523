import { lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { HandoverError, hasErrno } from '../errors.ts';
import { FOLDER_NAME, isAbsolutePath, nameDataFolder } from './data-folder.ts';
import { isFolder } from './folders.ts';
import type { Machine } from './machine.ts';

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
