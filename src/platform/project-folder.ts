import { lstatSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder in a project that is ours: settings, the checkpoint, PAUSE. */
export const PROJECT_SETTINGS = '.agent-handover';

export function pathOfCheckpoint(root: string): string {
  return join(root, PROJECT_SETTINGS, 'checkpoint.json');
}

/**
 * The folder whose `.agent-handover` counts for a place: the nearest one, at it or above it, that has one of this user's
 * or that git works in; without any, the place itself. Needs nothing but the file system, for what has to be quick.
 */
export function findProjectFolder(folder: string): string {
  for (let current = folder; ; current = dirname(current)) {
    if (isOwn(join(current, PROJECT_SETTINGS)) || isOwn(join(current, '.git'))) return current;
    if (dirname(current) === current) return folder;
  }
}

/** What another user left in a folder above, such as the one for temporary files, must not decide anything. */
function isOwn(path: string): boolean {
  const stat = statOrUndefined(path);
  return stat !== undefined && (process.getuid === undefined || stat.uid === process.getuid());
}

function statOrUndefined(path: string): ReturnType<typeof lstatSync> | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/** The text of a file for a quick look: undefined when it is not there, null when it cannot be read that way. */
export function glanceAtFile(path: string): string | null | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    return stat.isFile() && stat.size < 1024 * 1024 ? readFileSync(path, 'utf8') : null;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}
