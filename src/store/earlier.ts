import type { Handover } from '../model/handover.ts';
import { readIntact } from './handovers.ts';
import type { Store } from './store.ts';

const MAX_EARLIER = 100;

/** The handovers that one goes back to, the oldest first. What was forgotten, or is damaged, ends the chain. */
export function readEarlier(store: Store, handover: Handover): Handover[] {
  const chain: Handover[] = [];
  const seen = new Set([handover.id]);
  for (let id = handover.previous; id !== null && chain.length < MAX_EARLIER; ) {
    const earlier: Handover | null = seen.has(id) ? null : readIntact(store, id);
    if (earlier === null) break;
    seen.add(id);
    chain.unshift(earlier);
    id = earlier.previous;
  }
  return chain;
}
