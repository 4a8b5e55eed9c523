import { readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ARMS, keepFacts, makeNoise, measureSearch } from '../../eval/search/measure.ts';
import { readLabelled } from '../../eval/search/queries.ts';
import { measureSessions, placeNoise, placeSessions, readSessionQueries } from '../../eval/search/sessions.ts';
import type { Fact, FactKind } from '../../src/model/fact.ts';
import type { SearchQuery } from '../../src/search/query.ts';
import { openFinder, search } from '../../src/search/search.ts';
import { examineStore } from '../../src/store/doctor/doctor.ts';
import { forgetHandover } from '../../src/store/handovers.ts';
import { markFact } from '../../src/store/marks.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { makeClock, makeFolder, makeMachine, NOON, saveOne } from '../support/temp-store.ts';

const MINUTE = 60_000;

function makeCase(env: Record<string, string> = {}): { store: Store; clock: ReturnType<typeof makeClock> } {
  const clock = makeClock(NOON);
  const machine = makeMachine(makeFolder(), { clock });
  return { store: openStore({ ...machine, env: { ...machine.env, ...env } }), clock };
}

function makeFact(id: string, kind: FactKind, text: string): Fact {
  return { id, kind, text, trust: 'observed', origin: 'tool', sources: [] };
}

async function find(store: Store, text: string, more: Partial<SearchQuery> = {}): Promise<string[]> {
  const { hits } = await search({ store }, { text, limit: 20, ...more });
  return hits.map((hit) => hit.text.split(' All about')[0] ?? '');
}

describe.each([
  ['the index', {}],
  ['a scan', { HANDOVER_SQLITE: 'none' }],
])('a search by %s', (_, env) => {
  it('finds saved facts, and includes later saves and deletions', async () => {
    const { store, clock } = makeCase(env);
    const first = saveOne(store, 'the parser of invoices');
    expect(await find(store, 'invoice parsers')).toContain('the parser of invoices');
    clock.set(NOON + MINUTE);
    saveOne(store, 'the printer');
    expect(await find(store, 'printer')).toContain('the printer');
    forgetHandover(store, first.id);
    expect(await find(store, 'invoices')).toEqual([]);
  });

  it('lists a fact of several handovers once, with the latest and their number', async () => {
    const { store, clock } = makeCase(env);
    saveOne(store, 'queue');
    clock.set(NOON + MINUTE);
    const newest = saveOne(store, 'queue');
    const { hits } = await search({ store }, { text: 'continue queue', kinds: ['next'], limit: 5 });
    expect(hits).toMatchObject([{ what: 'fact', from: { handover: newest.id, handovers: 2 } }]);
  });

  it('shows the marks of a fact', async () => {
    const { store, clock } = makeCase(env);
    const handover = saveOne(store, 'cache');
    const [fact] = handover.facts;
    if (fact === undefined) throw new Error('no fact');
    const stand = async () => (await search({ store }, { text: 'continue cache', kinds: ['next'], limit: 1 })).hits[0];
    expect(await stand()).toMatchObject({ standing: 'open', trust: 'declared' });
    clock.set(NOON + MINUTE);
    markFact(store, { handover, fact }, { mark: 'pinned', because: null, by: 'human' });
    expect(await stand()).toMatchObject({ standing: 'pinned' });
    clock.set(NOON + 2 * MINUTE);
    markFact(store, { handover, fact }, { mark: 'refuted', because: 'too slow', by: 'human' });
    expect(await stand()).toMatchObject({ standing: 'refuted', because: 'too slow' });
  });

  it('filters by kind, agent, project, time and file', async () => {
    const { store, clock } = makeCase(env);
    const file = makeFact('f-aaaaaaaaaa', 'file', 'src/queue/retry.ts');
    const error = makeFact('f-bbbbbbbbbb', 'error', 'queue failed in src/queue/retry.ts:7');
    saveOne(store, 'queue', { facts: [file, error] });
    clock.set(NOON + MINUTE);
    const project = { id: 'p-0123456789abcdef', name: 'Docs', remote: null };
    saveOne(store, 'queue of docs', { project, facts: [] });
    expect(await find(store, 'queue', { kinds: ['error'] })).toEqual([error.text]);
    expect(await find(store, 'queue', { project: { name: 'docs' } })).toEqual(['queue of docs']);
    expect(await find(store, 'queue', { project: { name: 'nowhere' } })).toEqual([]);
    expect(await find(store, 'queue', { agent: 'CODEX', sinceMs: NOON + 1000 })).toEqual(['queue of docs']);
    expect(await find(store, 'queue', { agent: 'gemini' })).toEqual([]);
    expect((await find(store, 'queue', { file: 'queue/retry.ts' })).sort()).toEqual([error.text, file.text].sort());
    expect(await find(store, 'queue', { file: 'ueue/retry.ts' })).toEqual([]);
  });

  it('finds filtered facts, however many others match the words', async () => {
    const { store, clock } = makeCase(env);
    const facts = (round: number): Fact[] =>
      Array.from({ length: 50 }, (_, at) =>
        makeFact(`f-${String(round * 50 + at).padStart(10, '0')}`, 'note', `retries of queue ${round} ${at}`),
      );
    const old = makeFact('f-aaaaaaaaaa', 'file', 'src/queue/retries.ts');
    saveOne(store, 'old', { facts: [old, makeFact('f-bbbbbbbbbb', 'error', 'queueworker retries')] });
    for (let round = 0; round < 4; round++) {
      clock.set(NOON + (round + 1) * MINUTE);
      saveOne(store, 'new', { facts: facts(round) });
    }
    expect(await find(store, 'queue retries', { file: 'queue/retries.ts' })).toEqual([old.text]);
    expect(await find(store, 'retries', { kinds: ['error'] })).toEqual(['queueworker retries']);
    expect(await find(store, 'queuework', { kinds: ['error'] })).toEqual(['queueworker retries']);
    expect((await find(store, 'src/queue/retries.ts'))[0]).toBe(old.text);
    expect((await search({ store }, { text: 'queue retries', limit: 190 })).hits.length).toBe(190);
  });

  it('ranks exact phrases first', async () => {
    const { store } = makeCase(env);
    for (const title of ['refused connect by the host', 'connect was refused', 'the host will connect'])
      saveOne(store, title);
    expect((await find(store, 'connect was refused'))[0]).toBe('connect was refused');
  });

  it('finds notes of the current project', async () => {
    const { store } = makeCase(env);
    const folder = store.machine.cwd;
    const notes = { folder, memoryDir: join(folder, 'memory') };
    const path = join(folder, 'MEMORY.md');
    saveOne(store, 'anything');
    writeFileSync(path, '# MEMORY.md\n\n## Decisions\n- Never deploy on Fridays\n- Xylophones are blue\n');
    const ask = async (text: string) => (await search({ store, notes }, { text, limit: 3 })).hits;
    expect(await ask('deploying friday')).toMatchObject([{ what: 'note', id: path, from: { line: 4 } }]);
    writeFileSync(path, '# MEMORY.md\n\n- Deploy on Mondays\n');
    expect(await ask('xylophones')).toEqual([]);
    expect(await ask('mondays')).toMatchObject([{ what: 'note', text: '- Deploy on Mondays' }]);
  });

  it('lists facts by file name, newest first', async () => {
    const { store, clock } = makeCase(env);
    saveOne(store, 'a', { facts: [makeFact('f-aaaaaaaaaa', 'file', 'src/Retry.ts')] });
    clock.set(NOON + MINUTE);
    saveOne(store, 'b', {
      facts: [makeFact('f-bbbbbbbbbb', 'file', 'lib/retry.ts'), makeFact('f-cccccccccc', 'file', 'lib/other.ts')],
    });
    const found: string[] = [];
    const finder = await openFinder({ store });
    for await (const { fact: each } of finder.facts({ fileName: 'retry.ts' })) found.push(each.text);
    finder.close();
    expect(found).toEqual(['lib/retry.ts', 'src/Retry.ts']);
  });
});

describe('the search index', () => {
  const QUERIES = ['parser invoices', 'pritner', 'continue', 'about the queue'];

  async function ask(store: Store): Promise<unknown> {
    return await Promise.all(QUERIES.map((text) => search({ store }, { text, limit: 9 })));
  }

  function fill(): Store {
    const { store, clock } = makeCase();
    for (const [at, title] of ['the parser of invoices', 'the printer', 'the queue', 'a secretword99'].entries()) {
      clock.set(NOON + at * MINUTE);
      saveOne(store, title);
    }
    return store;
  }

  it('gives the same answers when it was deleted, cut or changed in any of its bytes', async () => {
    const store = fill();
    const before = await ask(store);
    const path = join(store.root, 'search.sqlite');
    const bytes = readFileSync(path);
    expect(statSync(path).mode & 0o077).toBe(0);
    const times = statSync(path);
    const check = async (what: string): Promise<void> => {
      expect([what, await ask(store)]).toEqual([what, before]);
      writeFileSync(path, bytes);
      utimesSync(path, times.atime, times.mtime);
    };
    rmSync(path);
    await check('deleted');
    for (const length of [0, 100, 5000, bytes.length - 1]) {
      truncateSync(path, length);
      await check(`cut to ${length}`);
    }
    for (let at = 0; at < bytes.length; at += 4099) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at) ^ 0x10, at);
      writeFileSync(path, changed);
      const { findings } = await examineStore(store);
      expect(findings.map((finding) => finding.path)).toContain(path);
      await check(`byte ${at}`);
    }
  });

  it('has nothing of forgotten facts in any page', async () => {
    const store = fill();
    const path = join(store.root, 'search.sqlite');
    const { hits } = await search({ store }, { text: 'secretword99', limit: 5 });
    expect(hits.length).toBeGreaterThan(0);
    expect(readFileSync(path).includes('secretword99')).toBe(true);
    forgetHandover(store, hits[0]?.from.handover ?? '');
    expect((await search({ store }, { text: 'secretword99', limit: 5 })).hits).toEqual([]);
    for (const part of ['secretword99', 'word99', 'tword']) expect(readFileSync(path).includes(part)).toBe(false);
  });

  it('gives the same answers whether filled at once or incrementally', async () => {
    const { store, clock } = makeCase();
    const titles = ['the parser of invoices', 'the printer', 'the queue', 'about the queue of invoices'];
    for (const [at, title] of titles.entries()) {
      clock.set(NOON - at * MINUTE);
      saveOne(store, title);
      await ask(store);
    }
    const grown = await ask(store);
    rmSync(join(store.root, 'search.sqlite'));
    expect(await ask(store)).toEqual(grown);
  });
});

describe('the labelled queries', () => {
  it('are answered best by all rankers together', async () => {
    const { store } = makeCase();
    const labelled = readLabelled(resolve('eval/search/queries.txt'));
    expect(labelled.queries.length).toBeGreaterThan(150);
    keepFacts(store, [...labelled.facts, ...makeNoise(labelled.facts, 1000)]);
    const scores = await measureSearch(store, labelled);
    const recall = ARMS.map((arm) => scores.get(arm)?.get('all')?.recall ?? 0);
    const [porter = 0, trigram = 0, fused = 0, typos = 0] = recall;
    expect(fused).toBeGreaterThan(Math.max(porter, trigram));
    expect(typos).toBeGreaterThan(fused);
    expect(typos).toBeGreaterThan(0.95);
  });

  it('find the told session they are about', async () => {
    const home = makeFolder();
    const store = openStore(makeMachine(home, { home }));
    placeNoise(home, placeSessions(home, resolve('test/fixtures/sessions')));
    const queries = readSessionQueries(resolve('eval/search/session-queries.txt'));
    expect(queries.length).toBeGreaterThanOrEqual(60);
    const { scores } = await measureSessions(store, queries);
    expect(scores.get('all')?.first).toBeGreaterThanOrEqual(0.8);
    expect(scores.get('all')?.five).toBeGreaterThanOrEqual(0.95);
    for (const sort of ['exact', 'path', 'error']) expect(scores.get(sort)?.first).toBe(1);
  });
});
