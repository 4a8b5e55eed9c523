import { realpathSync, type Stats, statSync } from 'node:fs';
import { HandoverError, hasErrno } from '../errors.ts';

/** Nothing is there, or nothing that this user can get to. The last one is a path with a NUL in it. */
export const OUT_OF_REACH: readonly string[] = [
  'ENOENT',
  'ENOTDIR',
  'EACCES',
  'EPERM',
  'ELOOP',
  'ENAMETOOLONG',
  'ERR_INVALID_ARG_VALUE',
];

/** The one path of a file or folder, without links and in the case the file system keeps; null if out of reach. */
export function resolveRealPath(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (hasErrno(error, ...OUT_OF_REACH)) return null;
    throw error;
  }
}

/** Follows links, as the two below do. */
export function isFolder(path: string): boolean {
  return statOrNull(path)?.isDirectory() ?? false;
}

export function pathExists(path: string): boolean {
  return statOrNull(path) !== null;
}

/** The real path of a folder that somebody asked for. */
export function requireFolder(path: string): string {
  const real = resolveRealPath(path);
  if (real !== null && isFolder(real)) return real;
  const wrong = real === null ? 'does not exist or cannot be reached' : 'is not a folder';
  throw new HandoverError('HANDOVER_PROJECT_MISSING', `${path} ${wrong}`, {
    hint: 'Give the path of an existing folder, or run the command inside the project.',
  });
}

function statOrNull(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (hasErrno(error, ...OUT_OF_REACH)) return null;
    throw error;
  }
}
