import { describe, expect, it } from 'vitest';
import type { Handover } from '../../src/model/handover.ts';
import { forgetHandover, readHistory } from '../../src/store/handovers.ts';
import { makeStore, saveOne } from '../support/temp-store.ts';

describe('the history of a handover', () => {
  it('is read oldest first, without forgotten ones', () => {
    const store = makeStore();
    const chain: Handover[] = [];
    for (const title of ['a', 'b', 'c', 'd']) {
      chain.push(saveOne(store, title, { previous: chain.at(-1)?.id ?? null }));
    }
    const last = chain.at(-1);
    if (last === undefined) throw new Error('nothing was kept');
    const titles = (): string[] => readHistory(store, last).map(({ title }) => title);
    expect(titles()).toEqual(['a', 'b', 'c']);
    forgetHandover(store, chain[1]?.id ?? '');
    expect(titles()).toEqual(['a', 'c']);
    forgetHandover(store, chain[2]?.id ?? '');
    expect(titles()).toEqual(['a']);
  });

  it('is empty where a handover names itself as previous', () => {
    const store = makeStore();
    const kept = saveOne(store, 'a');
    expect(readHistory(store, { ...kept, previous: kept.id })).toEqual([]);
  });
});
