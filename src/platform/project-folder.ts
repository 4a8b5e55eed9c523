import { lstatSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/* What `check` needs to answer at once: this file imports none of ours. */

/** Our folder in a project: settings, the checkpoint, PAUSE. */
export const PROJECT_SETTINGS = '.agent-handover';

export function pathOfCheckpoint(root: string): string {
  return join(root, PROJECT_SETTINGS, 'checkpoint.json');
}

/** The nearest folder upwards with an `.agent-handover` or `.git` of this user, else the folder itself. Runs no git. */
export function findProjectFolder(folder: string): string {
  for (let current = folder; ; current = dirname(current)) {
    if (isOwn(join(current, PROJECT_SETTINGS)) || isOwn(join(current, '.git'))) return current;
    if (dirname(current) === current) return folder;
  }
}

/** Files of other users in a folder above, such as /tmp, are ignored. */
function isOwn(path: string): boolean {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat !== undefined && (process.getuid === undefined || stat.uid === process.getuid());
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

/** The text of a small file: undefined when it is missing, null when it cannot be read. */
export function readSmallFile(path: string): string | null | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    return stat.isFile() && stat.size < 1024 * 1024 ? readFileSync(path, 'utf8') : null;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}
