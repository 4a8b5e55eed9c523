import { type Fused, fuse, type RankedList } from './fuse.ts';
import type { ParsedQuery } from './parsed-query.ts';
import { type KnownWord, rankTexts } from './rank.ts';

/** What a hit of the project that is searched from has ahead of others. */
const HERE_WEIGHT = 0.5;

export interface FuseOptions<K> {
  /** Whether a text is of the project that is searched from. */
  isHere?: (key: K) => boolean;
  /** Rankings by other measures than words. */
  more?: readonly RankedList<K>[];
}

/** Ranks texts by their words and by parts of words, and fuses that with other rankings. What has the phrase comes first. */
export function fuseTexts<K>(
  { parsed, known }: { parsed: ParsedQuery; known: readonly KnownWord[] },
  texts: readonly { key: K; text: string }[],
  { isHere, more = [] }: FuseOptions<K> = {},
): Fused<K>[] {
  const { words, grams, exact } = rankTexts(parsed, known, texts);
  const lists: RankedList<K>[] = [{ keys: words }, { keys: grams }, ...more];
  if (isHere !== undefined) {
    const own = fuse(lists).flatMap(({ key }) => (isHere(key) ? [key] : []));
    lists.push({ keys: own, weight: HERE_WEIGHT });
  }
  const isExact = (key: K): number => Number(exact.has(key));
  return fuse(lists).sort((a, b) => isExact(b.key) - isExact(a.key));
}
