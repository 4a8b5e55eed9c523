import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { countFiles, countFirstFiles } from '../../../src/app/ask/files.ts';
import { openFinder } from '../../../src/search/search.ts';
import { forgetHandover } from '../../../src/store/handovers.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeDraft, makeFact, OBSERVED } from '../../support/facts.ts';
import { makeClock, makeStore, NOON, saveOne, type TestClock } from '../../support/temp-store.ts';

const STATUSES = ['created', 'edited', 'deleted', 'read', 'mentioned', 'none'];

/** Sessions that work on sixty files, over and over, in two projects; half of what they only mention exists. */
function work(store: Store, clock: TestClock, pick: <T>(items: readonly T[]) => T): string[] {
  const folder = store.machine.cwd;
  mkdirSync(join(folder, 'src'));
  const paths = Array.from({ length: 60 }, (_, at) => `src/f${at}.ts`);
  for (const path of paths) if (pick([true, false])) writeFileSync(join(folder, path), '');
  return Array.from({ length: 60 }, (_, at) => {
    clock.set(NOON + at * 60_000);
    const facts = [...new Set(Array.from({ length: 5 }, () => pick(paths)))].map((path) => {
      const status = pick(STATUSES);
      const carried = pick([0, 0, 0, 1]) === 1 ? { sources: [{ line: 1, session: 's-0' }] } : {};
      return makeFact('file', path, { ...OBSERVED, ...(status === 'none' ? {} : { status }), ...carried });
    });
    const { session, ...draft } = makeDraft(facts);
    const project = { id: pick(['p-0000000000000001', 'p-0000000000000002']), name: 'shop', remote: null };
    const workspace = { ...draft.workspace, root: folder };
    const id = pick([null, 's-1', 's-2', 's-3', 's-4', 's-5', 's-6']);
    return saveOne(store, `Work ${at}`, { facts, project, workspace, session: { ...session, id } }).id;
  });
}

describe('the first files', () => {
  it('of the index are those that counting all facts gives, also when handovers were forgotten', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    process.stdout.write(`seed ${seed}\n`);
    let state = seed;
    const pick = <T>(items: readonly T[]): T => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
      const item = items[(state >>> 12) % items.length];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    };
    const clock = makeClock(NOON);
    const store = makeStore({ clock });
    const ids = work(store, clock, pick);
    const compare = async (): Promise<void> => {
      const finder = await openFinder({ store });
      expect(finder.by).toBe('index');
      for (const project of [{}, { project: { id: 'p-0000000000000002' } }]) {
        const all = await countFiles(finder.facts({ ...project, kinds: ['file'] }), store.machine);
        for (const limit of [1, 7, 20, 45, 1000]) {
          const ranked = await finder.files(project);
          if (ranked === null) throw new Error('the index does not rank files');
          const { files, more } = await countFirstFiles(ranked, limit, store.machine);
          expect(files).toEqual(all.slice(0, limit));
          if (more !== null) expect(more).toBe(Math.max(0, all.length - limit));
        }
      }
      finder.close();
    };
    await compare();
    for (const id of ids.filter((_, at) => at % 3 === 0)) forgetHandover(store, id);
    await compare();
  });
});
