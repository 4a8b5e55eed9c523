import { basename, join } from 'node:path';
import { type ClaimProblem, inspectClaims } from '../../platform/lock-claim.ts';
import { CREATION_LOCK, withCreationLock } from '../handovers.ts';
import { withIndexLock } from '../index-writer.ts';
import { LOCKS, type Store } from '../store.ts';
import type { Finding } from './finding.ts';

/** To be called before the index is checked: whoever takes a lock clears away the claims that make no sense. */
export function checkLocks(store: Store): Finding[] {
  return inspectClaims(join(store.root, LOCKS)).map(describeClaim);
}

function describeClaim({ path, problem }: ClaimProblem): Finding {
  const take = basename(path).startsWith(`${CREATION_LOCK}.`) ? withCreationLock : withIndexLock;
  return {
    code: 'damaged-claim',
    level: 'warning',
    path,
    message: `${path} is damaged: ${problem}. It bars nobody: the next to take the lock removes it`,
    remedy: {
      description: 'take the lock once, which removes it',
      apply: (store) => take(store, () => undefined),
    },
  };
}
