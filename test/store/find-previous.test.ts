import { writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HandoverDraft, UnstampedDraft } from '../../src/model/handover.ts';
import { formatTimestamp } from '../../src/model/time.ts';
import { findPrevious } from '../../src/store/find-handover.ts';
import { type CatalogOpener, openCatalog } from '../../src/store/open-catalog.ts';
import { openStore, pathOfHandover, type Store } from '../../src/store/store.ts';
import { makeDraft } from '../support/facts.ts';
import { makeClock, makeFolder, makeMachine, NOON, saveOne } from '../support/temp-store.ts';

const MINUTE = 60_000;
const { session, workspace, project } = makeDraft([]);

/** Minutes after noon. */
const at = (minutes: number): string => formatTimestamp(NOON + minutes * MINUTE);

interface Told {
  /** Null for what is written by hand. */
  session: string | null;
  /** Minutes after noon: when it was saved, and the time of its last event. */
  kept: number;
  until?: number;
  root?: string;
}

/** Found among the newest files, or behind handovers of other projects by the index or by a scan. */
describe.each(['the newest', 'the index', 'a scan'])('the previous handover, found by %s', (way) => {
  function openCase(): { store: Store; keep(title: string, told: Told): string } {
    const clock = makeClock(NOON);
    const machine = makeMachine(makeFolder(), { clock });
    const env = way === 'a scan' ? { ...machine.env, HANDOVER_SQLITE: 'none' } : machine.env;
    const store = openStore({ ...machine, env });
    const keep = (title: string, { session: id, kept, until, root = '/shop' }: Told): string => {
      clock.set(NOON + kept * MINUTE);
      const parts: Partial<HandoverDraft> = {
        project,
        workspace: { ...workspace, root },
        session: { ...session, id, ...(until === undefined ? {} : { last_at: at(until) }) },
      };
      return saveOne(store, title, parts).id;
    };
    return { store, keep };
  }

  async function find(
    store: Store,
    id: string,
    began: number | null | { at: number; running: readonly string[] },
  ): Promise<{ previous: string; byHand: string | null } | null> {
    const { at: started, running } = typeof began === 'object' && began !== null ? began : { at: began, running: [] };
    const started_at = started === null ? null : at(started);
    const draft: UnstampedDraft = makeDraft([], { session: { ...session, id, started_at } });
    if (way !== 'the newest') for (let count = 0; count < 6; count++) saveOne(store, 'of another project');
    const open: CatalogOpener = async () => {
      const { catalog } = await openCatalog(store);
      onTestFinished(() => catalog.close());
      return catalog;
    };
    const line = await findPrevious(store, draft, { open, running: new Set(running) });
    return line === null ? null : { previous: line.previous.title, byHand: line.byHand?.title ?? null };
  }

  it('is none in an empty store, and none of another project', async () => {
    const { store } = openCase();
    expect(await find(store, 'a', 0)).toBeNull();
    saveOne(store, 'elsewhere');
    expect(await find(store, 'a', 60)).toBeNull();
  });

  it('is the newest of the same session, in whatever worktree', async () => {
    const { store, keep } = openCase();
    keep('first', { session: 'a', kept: 10, until: 9 });
    keep('second', { session: 'a', kept: 20, until: 19, root: '/elsewhere' });
    keep('other', { session: 'b', kept: 30, until: 29 });
    expect(await find(store, 'a', 0)).toEqual({ previous: 'second', byHand: null });
  });

  it('is the newest of the worktree whose session was over when this one began', async () => {
    const { store, keep } = openCase();
    keep('before', { session: 'a', kept: 10, until: 9 });
    keep('other worktree', { session: 'b', kept: 12, until: 11, root: '/elsewhere' });
    keep('side by side', { session: 'c', kept: 60, until: 59 });
    expect(await find(store, 'd', 30)).toEqual({ previous: 'before', byHand: null });
    expect(await find(store, 'd', { at: 30, running: ['a', 'b'] })).toBeNull();
    expect(await find(store, 'd', 5)).toBeNull();
    expect(await find(store, 'd', null)).toBeNull();
  });

  it('may have been captured only after this session began', async () => {
    const { store, keep } = openCase();
    keep('older', { session: 'o', kept: 1, until: 1 });
    keep('crashed', { session: 'a', kept: 40, until: 9 });
    expect(await find(store, 'b', 30)).toEqual({ previous: 'crashed', byHand: null });
    keep('own', { session: 'b', kept: 41, until: 41 });
    keep('crashed again', { session: 'a', kept: 50, until: 9 });
    expect(await find(store, 'b', 30)).toEqual({ previous: 'own', byHand: null });
  });

  it('is joined by the newest saved by hand since', async () => {
    const { store, keep } = openCase();
    keep('by hand, before', { session: null, kept: 5 });
    keep('captured', { session: 'a', kept: 10, until: 9 });
    keep('by hand', { session: null, kept: 20 });
    keep('by hand, last', { session: null, kept: 21 });
    keep('by hand, elsewhere', { session: null, kept: 22, root: '/elsewhere' });
    expect(await find(store, 'a', 0)).toEqual({ previous: 'captured', byHand: 'by hand, last' });
    expect(await find(store, 'b', 30)).toEqual({ previous: 'captured', byHand: 'by hand, last' });
  });

  it('is one saved by hand where nothing was captured', async () => {
    const { store, keep } = openCase();
    keep('by hand', { session: null, kept: 20 });
    expect(await find(store, 'a', 0)).toEqual({ previous: 'by hand', byHand: null });
  });

  it('is never a damaged one', async () => {
    const { store, keep } = openCase();
    keep('whole', { session: 'a', kept: 10, until: 9 });
    const broken = keep('broken', { session: 'a', kept: 20, until: 19 });
    expect(await find(store, 'a', 0)).toEqual({ previous: 'broken', byHand: null });
    writeFileSync(pathOfHandover(store, broken), '{');
    expect(await find(store, 'a', 0)).toEqual({ previous: 'whole', byHand: null });
  });
});
