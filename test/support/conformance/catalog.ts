import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sealHandover } from '../../../src/handover/seal.ts';
import { type Catalog, type CatalogRow, type Filter, takeRows } from '../../../src/store/catalog.ts';
import { forgetHandover, saveMigratedHandover } from '../../../src/store/handovers.ts';
import { openStore, pathOfHandover, type Store } from '../../../src/store/store.ts';
import { makeClock, makeFolder, makeMachine, NOON, saveOne } from '../temp-store.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

interface Case {
  store: Store;
  clock: ReturnType<typeof makeClock>;
}

function makeCase(): Case {
  const clock = makeClock(NOON);
  return { store: openStore(makeMachine(makeFolder(), { clock })), clock };
}

/** Every driver of the catalog port answers the same questions in the same way. */
export function testCatalog(name: string, open: (store: Store) => Promise<Catalog>): void {
  const ask = async (store: Store, filter: Filter = {}): Promise<CatalogRow[]> => {
    const catalog = await open(store);
    try {
      return await takeRows(catalog.rows(filter), Number.POSITIVE_INFINITY);
    } finally {
      catalog.close();
    }
  };
  const titles = async (store: Store, filter?: Filter): Promise<string[]> =>
    (await ask(store, filter)).map((row) => row.title);

  describe(`the ${name} catalog`, () => {
    it('is empty for an empty store', async () => {
      expect(await ask(makeCase().store)).toEqual([]);
    });

    it('gives the newest first, over months, seconds and milliseconds', async () => {
      const { store, clock } = makeCase();
      for (const [title, at] of [
        ['a', NOON - 40 * DAY],
        ['b', NOON],
        ['c', NOON + 1],
        ['d', NOON + 2],
        ['e', NOON + 1500],
      ] as const) {
        clock.set(at);
        saveOne(store, title);
      }
      expect(await titles(store)).toEqual(['e', 'd', 'c', 'b', 'a']);
    });

    it('has the fields that a list shows', async () => {
      const { store } = makeCase();
      const handover = saveOne(store, 'the parser');
      expect(await ask(store)).toEqual([
        {
          id: handover.id,
          created_at: '2026-01-31T12:00:00.000Z',
          agent: 'codex',
          project: { id: handover.project.id, name: handover.project.name },
          root: handover.workspace.root,
          title: 'the parser',
          next: ['continue the parser'],
          session: null,
          terminal: null,
          last_at: null,
          noted_at: null,
          score: null,
        },
      ]);
    });

    it('has the session of captured handovers, and the score of rated ones', async () => {
      const { store } = makeCase();
      const last_at = '2026-01-31T11:59:00.000Z';
      saveOne(store, 'captured', {
        session: { ...session, id: 's-1', last_at },
        quality: { score: 0.75, rating: 'Good', axes: { goal: 0.75 } },
      });
      expect(await ask(store)).toMatchObject([{ session: 's-1', last_at, score: 0.75 }]);
    });

    it('includes later saves and deletions', async () => {
      const { store, clock } = makeCase();
      const first = saveOne(store, 'a');
      expect(await titles(store)).toEqual(['a']);
      clock.set(NOON + MINUTE);
      saveOne(store, 'b');
      expect(await titles(store)).toEqual(['b', 'a']);
      forgetHandover(store, first.id);
      expect(await titles(store)).toEqual(['b']);
      clock.set(NOON - DAY);
      saveOne(store, 'older');
      expect(await titles(store)).toHaveLength(2);
    });

    it('notices an older handover added and a newer one deleted at the same time', async () => {
      const { store, clock } = makeCase();
      saveOne(store, 'a');
      clock.set(NOON + MINUTE);
      const gone = saveOne(store, 'b');
      expect(await titles(store)).toEqual(['b', 'a']);
      const { checksum: _, ...draft } = saveOne(makeCase().store, 'older');
      const early = sealHandover({
        ...draft,
        id: '20260131-110000-aaaa',
        created_at: '2026-01-31T11:00:00.000Z',
      });
      expect(saveMigratedHandover(store, early)).not.toBeNull();
      forgetHandover(store, gone.id);
      expect(await titles(store)).toEqual(['a', 'older']);
    });

    it('filters by id, agent, project, text and time, each alone and together', async () => {
      const { store, clock } = makeCase();
      const a = saveOne(store, 'Fix the Parser', { session: { ...session, agent: 'Claude-Code' } });
      clock.set(NOON + MINUTE);
      const b = saveOne(store, 'Write docs', {
        project: { id: 'p-0123456789abcdef', name: 'Docs', remote: null },
      });
      clock.set(NOON + 2 * MINUTE);
      saveOne(store, 'ÜBERSICHT bauen');
      const cases: [Filter, string[]][] = [
        [{ idPrefix: a.id }, ['Fix the Parser']],
        [{ idPrefix: a.id.slice(0, 8) }, ['ÜBERSICHT bauen', 'Write docs', 'Fix the Parser']],
        [{ idPrefix: '2025' }, []],
        [{ agent: 'CLAUDE-code' }, ['Fix the Parser']],
        [{ project: { id: b.project.id } }, ['Write docs']],
        [{ project: { name: 'dOCS' } }, ['Write docs']],
        [{ project: { id: b.project.id, root: 'nowhere' } }, ['Write docs']],
        [{ project: {} }, []],
        [{ project: { root: a.workspace.root } }, ['ÜBERSICHT bauen', 'Write docs', 'Fix the Parser']],
        [{ query: 'PARSER' }, ['Fix the Parser']],
        [{ query: 'all about write' }, ['Write docs']],
        [{ query: 'continue fix' }, ['Fix the Parser']],
        [{ query: 'übersicht' }, ['ÜBERSICHT bauen']],
        [{ query: '%' }, []],
        [{ sinceMs: NOON + MINUTE }, ['ÜBERSICHT bauen', 'Write docs']],
        [{ untilMs: NOON + MINUTE }, ['Write docs', 'Fix the Parser']],
        [{ sinceMs: NOON + 1, untilMs: NOON + MINUTE, query: 'docs', agent: 'codex' }, ['Write docs']],
      ];
      for (const [filter, expected] of cases) expect([filter, await titles(store, filter)]).toEqual([filter, expected]);
    });

    it('skips a damaged file with a warning, and lists all others', async () => {
      const { store, clock } = makeCase();
      const broken = saveOne(store, 'broken');
      clock.set(NOON + MINUTE);
      saveOne(store, 'whole');
      writeFileSync(pathOfHandover(store, broken.id), '{"schema": "handover/1"');
      const catalog = await open(store);
      expect((await takeRows(catalog.rows({}), 10)).map((row) => row.title)).toEqual(['whole']);
      expect(await catalog.unreadable()).toEqual([
        { path: pathOfHandover(store, broken.id), reason: expect.stringContaining('is damaged'), isNewer: false },
      ]);
      catalog.close();
    });

    it('lists more than a page, each once', async () => {
      const { store, clock } = makeCase();
      for (let i = 0; i < 1203; i++) {
        clock.set(NOON + Math.floor(i / 3) * 777);
        saveOne(store, String(i));
      }
      const rows = await ask(store);
      expect(new Set(rows.map((row) => row.id)).size).toBe(1203);
      expect(rows.map((row) => Number(row.title))).toEqual([...Array(1203).keys()].reverse());
    });
  });
}

const session = { agent: 'codex', id: null, terminal: null, model: null, transcript: null, started_at: null };
