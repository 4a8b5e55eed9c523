/** Keys, best first. A list with more weight counts for as many. */
export interface RankedList<K> {
  keys: readonly K[];
  weight?: number;
}

export interface Fused<K> {
  key: K;
  score: number;
}

/** How little the first places of a list differ; the value that reciprocal rank fusion was published with. */
const EVENNESS = 60;

/**
 * Fuses any number of rankings by reciprocal rank: what stands high in several lists comes first. A key that stands in a
 * list twice counts where it stands first. Equal scores keep the order in which keys were first met.
 */
export function fuse<K>(lists: readonly RankedList<K>[]): Fused<K>[] {
  const scores = new Map<K, number>();
  for (const { keys, weight = 1 } of lists) {
    const seen = new Set<K>();
    for (const [place, key] of keys.entries()) {
      if (seen.has(key)) continue;
      seen.add(key);
      scores.set(key, (scores.get(key) ?? 0) + weight / (EVENNESS + place + 1));
    }
  }
  return [...scores].map(([key, score]) => ({ key, score })).sort((a, b) => b.score - a.score);
}
