import { join } from 'node:path';
import { HandoverError } from '../../../errors.ts';
import { removeFile } from '../../../platform/durable-file.ts';
import {
  copyAfresh,
  describeVersion,
  removeOwnLockFile,
  swapUnderLockFile,
} from '../../../platform/lock-file-swap.ts';
import { sleep } from '../../../platform/machine.ts';
import { ensureWorkFolder, git, type Repo } from './repository.ts';
import { changeIndex, type TreeChange } from './trees.ts';

const PAUSE_MS = 50;
const MAX_TRIES = 60;

function pathsOf(repo: Repo): { index: string; draft: string } {
  return { index: join(repo.gitDir, 'index'), draft: join(ensureWorkFolder(repo), 'user-index') };
}

/** What a killed publication may have left in the way of git. */
export function releaseUserIndex(repo: Repo): void {
  const { index, draft } = pathsOf(repo);
  removeOwnLockFile(index, draft);
}

/**
 * Sets some entries of the user's index and keeps all others, whatever is staged. Must come before the branch moves: a
 * kill between the two then leaves changes staged that are about to be committed. The other way round it would leave
 * their undoing staged.
 */
export function updateUserIndex(repo: Repo, changes: readonly TreeChange[]): void {
  const { index, draft } = pathsOf(repo);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const version = describeVersion(index);
    copyAfresh(index, draft);
    changeIndex(repo, changes, draft);
    // Only spares others the work: how it ends says nothing, and what it leaves when it is killed is of no use.
    git(repo, ['update-index', '-q', '--refresh'], { variables: { GIT_INDEX_FILE: draft } });
    removeFile(`${draft}.lock`);
    if (swapUnderLockFile(index, draft, version) === 'done') return;
    sleep(PAUSE_MS);
  }
  throw new HandoverError('HANDOVER_GIT_BUSY', `another git is at work in ${repo.top}`, {
    hint: `Try again when it is done. If none is running, remove ${index}.lock`,
  });
}
