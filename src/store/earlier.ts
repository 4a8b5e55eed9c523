import { HandoverError } from '../errors.ts';
import type { Handover } from '../model/handover.ts';
import { readHandover } from './handovers.ts';
import type { Store } from './store.ts';

const MAX_EARLIER = 100;

/** The handovers that one goes back to, the oldest first. What was forgotten, or is damaged, ends the chain. */
export function readEarlier(store: Store, handover: Handover): Handover[] {
  const chain: Handover[] = [];
  const seen = new Set([handover.id]);
  for (let id = handover.previous; id !== null && chain.length < MAX_EARLIER; ) {
    const earlier: Handover | null = seen.has(id) ? null : readWhole(store, id);
    if (earlier === null) break;
    seen.add(id);
    chain.unshift(earlier);
    id = earlier.previous;
  }
  return chain;
}

function readWhole(store: Store, id: string): Handover | null {
  try {
    return readHandover(store, id);
  } catch (error) {
    if (error instanceof HandoverError) return null;
    throw error;
  }
}
