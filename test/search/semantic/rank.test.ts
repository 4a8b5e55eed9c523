import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Candidate, embedAll, type Ranking, rankBySimilarity } from '../../../src/search/semantic/rank.ts';
import { VECTORS } from '../../../src/search/semantic/vector-store.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { writeSecrets } from '../../fixtures/secrets/write-secrets.ts';
import { makeSandbox } from '../../support/cli.ts';
import { type EmbeddingServer, openEmbeddingServer } from '../../support/embedding-server.ts';
import { codeOf, configure } from '../../support/publishing.ts';
import { makeClock, NOON } from '../../support/temp-store.ts';

const FACTS: Candidate<string>[] = [
  { key: 'car', text: 'the automobile must be blue' },
  { key: 'index', text: 'the database index is rebuilt by rename' },
  { key: 'slow', text: 'requests are sluggish under load' },
  { key: 'again', text: 'the automobile must be blue' },
];

/** Its clock stands still, so that no ranking runs out of time. */
async function begin(more = '', timeout = 30): Promise<{ server: EmbeddingServer; store: Store; url: string }> {
  const server = await openEmbeddingServer();
  const sandbox = makeSandbox();
  configure(sandbox, `[search.meaning]\nurl = "${server.url}/v1"\nmodel = "toy"\ntimeout = ${timeout}\n${more}`);
  return { server, store: openStore({ ...sandbox.machine, clock: makeClock(NOON) }), url: server.url };
}

async function ask(store: Store, text: string, candidates = FACTS): Promise<Ranking<string>> {
  const ranking = await rankBySimilarity(store, { text, candidates });
  if (ranking === null) throw new Error('meaning is not set');
  return ranking;
}

describe('semantic ranking', () => {
  it('is off unless the user configured it', async () => {
    expect(await rankBySimilarity(openStore(makeSandbox().machine), { text: 'car', candidates: FACTS })).toBeNull();
  });

  it('finds facts in other words', async () => {
    const { store } = await begin();
    expect((await ask(store, 'vehicle')).ranked.slice(0, 2)).toEqual(['car', 'again']);
    expect((await ask(store, 'latency')).ranked[0]).toBe('slow');
  });

  it('embeds nothing twice, neither facts nor queries', async () => {
    const { server, store } = await begin();
    await ask(store, 'vehicle');
    expect(server.requests.flatMap(({ texts }) => texts)).toHaveLength(1 + 3);
    await ask(store, 'vehicle');
    expect(server.requests).toHaveLength(2);
    await ask(store, 'vehicle', [...FACTS, { key: 'new', text: 'one more' }]);
    expect(server.requests.at(-1)?.texts).toEqual(['one more']);
  });

  it('sends batches, best candidates first, and stops at its time limit', async () => {
    const { server, store } = await begin('batch = 2');
    let now = 1000;
    const machine = { ...store.machine, clock: { now: () => (now += 900) } };
    const many = Array.from({ length: 20 }, (_, index) => ({
      key: `${index}`,
      text: `fact number ${index} ${'x'.repeat(index)}`,
    }));
    const ranking = await ask({ ...store, machine }, 'fact', many);
    const sent = server.requests.slice(1).flatMap(({ texts }) => texts);
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.length).toBeLessThan(20);
    expect(sent).toEqual(many.slice(0, sent.length).map(({ text }) => text));
    expect(ranking).toMatchObject({ texts: 20, missing: 20 - sent.length, trouble: null });
    expect(new Set(ranking.ranked)).toEqual(new Set(many.slice(0, sent.length).map(({ key }) => key)));
  });

  it('warns once, and ranks nothing, when the endpoint is unreachable', async () => {
    const { server, store } = await begin();
    await server.close();
    const { ranked, trouble } = await ask(store, 'vehicle');
    expect({ ranked, code: trouble?.code }).toEqual({ ranked: [], code: 'HANDOVER_REMOTE_UNREACHABLE' });
  });

  it.each([
    ['429', { status: 429 }],
    ['garbage', { status: 200, body: 'hello' }],
    ['vectors of another length', { status: 200, body: '{"data":[{"embedding":[1,2,3]}]}' }],
    ['silence', 'stall'],
  ] as const)('uses known vectors when the endpoint answers with %s', async (_, answer) => {
    const { server, store } = await begin('batch = 1', answer === 'stall' ? 0.5 : 30);
    await ask(store, 'vehicle', FACTS.slice(0, 2));
    server.answer = () => answer;
    const { ranked, missing, trouble } = await ask(store, 'vehicle');
    expect(ranked.slice(0, 2)).toEqual(['car', 'again']);
    expect(missing).toBe(1);
    expect(trouble?.code).toMatch(/^HANDOVER_REMOTE_/);
  });

  it('starts over when the stored vectors are damaged', async () => {
    const { server, store } = await begin();
    const many = Array.from({ length: 200 }, (_, index) => ({
      key: `${index}`,
      text: `fact ${'y'.repeat(index)}`,
    }));
    await ask(store, 'vehicle', many);
    truncateSync(join(store.root, VECTORS), 8192);
    const hurt = await ask(store, 'vehicle', many);
    const healed = await ask(store, 'vehicle', many);
    expect([hurt.trouble?.message ?? 'healed at once', healed.trouble]).toEqual([
      expect.stringMatching(/damaged|healed/),
      null,
    ]);
    expect(healed.ranked).toHaveLength(50);
    expect(server.requests.length).toBeGreaterThan(8);
  });

  it('sends no secret from facts or queries', async () => {
    const { server, store } = await begin();
    const canaries = writeSecrets(120, 5);
    for (const part of [canaries.slice(0, 60), canaries.slice(60)])
      await ask(
        store,
        part.map(({ text }) => text).join('\n'),
        part.map(({ text }, index) => ({ key: `${index}`, text })),
      );
    await embedAll(
      store,
      canaries.map(({ text }) => ({ key: null, text })),
    );
    const sent = server.requests.map(({ body }) => body).join('\n');
    expect(sent).toContain('[redacted:');
    const leaked = canaries.filter(({ secret }) =>
      secret
        .split('\n')
        .filter((line) => !line.startsWith('-----') && line.length >= 8)
        .some((line) => sent.includes(line.slice(Math.floor(line.length / 4), Math.ceil(line.length * 0.9)))),
    );
    expect(leaked).toEqual([]);
  });
});

describe('embedding all facts', () => {
  it('reports progress, keeps finished vectors when interrupted, and continues', async () => {
    const { server, store } = await begin('batch = 1');
    server.answer = (_, count) => (count > 3 ? { status: 429 } : null);
    expect(await codeOf(embedAll(store, FACTS))).toBe('HANDOVER_REMOTE_BUSY');
    server.answer = () => null;
    const told: string[] = [];
    const outcome = await embedAll(store, FACTS, (done, total) => told.push(`${done} of ${total}`));
    expect(outcome).toMatchObject({ texts: 3, embedded: 1 });
    expect(told).toEqual(['0 of 1', '1 of 1']);
  });

  it('removes vectors of deleted facts', async () => {
    const { store } = await begin();
    await embedAll(store, FACTS);
    expect(await embedAll(store, FACTS.slice(0, 1))).toMatchObject({ embedded: 0, forgotten: 2 });
  });

  it('says what to configure when nothing is', async () => {
    expect(await codeOf(embedAll(openStore(makeSandbox().machine), FACTS))).toBe('HANDOVER_MEANING_UNCONFIGURED');
  });
});
