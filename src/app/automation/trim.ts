import { join } from 'node:path';
import { trimCacheFolder, trimSubfolders } from '../../platform/cache-file.ts';
import type { Store } from '../../store/store.ts';
import { READY_FOLDERS } from './folders.ts';

const LIMITS = { files: 500, bytes: 32 * 1024 * 1024 };
const MOST_FOLDERS = 500;

/** Lets go of what lies ready for the longest time: whatever is not there any more is not given, and nothing else. */
export function trimReady(store: Store): void {
  const { sessions, handovers, terminals, worktrees, owed, spool, given, begun, code } = READY_FOLDERS;
  for (const folder of [sessions, handovers, terminals, worktrees, owed, given, spool, code])
    trimCacheFolder(join(store.root, ...folder), LIMITS);
  trimSubfolders(join(store.root, ...begun), MOST_FOLDERS);
}
