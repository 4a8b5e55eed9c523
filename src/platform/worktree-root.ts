import { dirname, join } from 'node:path';
import { pathExists, resolveRealPath } from './folders.ts';

/**
 * The top folder of the worktree that a folder is in, without asking git; the folder itself outside of git. Null when it
 * cannot be reached.
 */
export function findWorktreeRoot(folder: string): string | null {
  const real = resolveRealPath(folder);
  if (real === null) return null;
  for (let path = real; ; path = dirname(path)) {
    if (pathExists(join(path, '.git'))) return path;
    if (dirname(path) === path) return real;
  }
}
