import { readdirSync, statSync } from 'node:fs';
import { hasErrno } from '../errors.ts';

/** The names in a folder, in no order; none when it does not exist. */
export function listFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

/** File times are kept in steps of up to two seconds; within one step a change can leave the time as it was. */
const COARSEST_STEP_MS = 2000;

/**
 * A text that differs whenever names were added to or removed from a folder since it was taken; null while the last
 * change is so recent that a further one might not show, and for a folder that does not exist.
 */
export function readFolderState(path: string): string | null {
  try {
    const { mtimeMs, ino } = statSync(path);
    const settled = Date.now() - mtimeMs > COARSEST_STEP_MS;
    return settled ? `${ino}:${mtimeMs}` : null;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}
