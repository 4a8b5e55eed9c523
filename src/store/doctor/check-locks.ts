import { basename, join } from 'node:path';
import { withLock } from '../../platform/lock.ts';
import { type ClaimProblem, inspectClaims } from '../../platform/lock-claim.ts';
import { CREATION_LOCK, withCreationLock } from '../handovers.ts';
import { withIndexLock } from '../index-writer.ts';
import { LOCKS, RELAY_LOCK, type Store } from '../store.ts';
import type { Finding } from './finding.ts';

/** To be called before the index is checked: whoever takes a lock clears away the claims that make no sense. */
export function checkLocks(store: Store): Finding[] {
  return inspectClaims(join(store.root, LOCKS)).map(describeClaim);
}

function describeClaim({ path, problem }: ClaimProblem): Finding {
  const [name = ''] = basename(path).split('.', 1);
  return {
    code: 'damaged-claim',
    level: 'warning',
    path,
    message: `${path} is damaged: ${problem}. It bars nobody: the next to take the lock removes it`,
    remedy: {
      description: 'take the lock once, which removes it',
      apply: (store) => takeLock(store, name),
    },
  };
}

const WAIT_MS = 2000;

function takeLock(store: Store, name: string): void {
  if (name === CREATION_LOCK) withCreationLock(store, () => undefined);
  else if (!name.startsWith(RELAY_LOCK)) withIndexLock(store, () => undefined);
  else {
    const { clock } = store.machine;
    withLock({ folder: join(store.root, LOCKS), name, waitMs: WAIT_MS, clock }, () => undefined);
  }
}
