import { describe, expect, it } from 'vitest';
import { describePlace } from '../../../src/platform/project.ts';
import type { SearchHit } from '../../../src/search/query.ts';
import { type Desk, errorCode, makeDesk } from '../../support/cli.ts';
import { type EmbeddingServer, openEmbeddingServer } from '../../support/embedding-server.ts';
import { configure, writeIn } from '../../support/publishing.ts';
import { keepSample } from '../../support/samples.ts';

interface Answer {
  hits: SearchHit[];
  meaning?: { texts: number; missing: number; trouble: string | null };
}

async function begin(): Promise<{ desk: Desk; server: EmbeddingServer }> {
  const server = await openEmbeddingServer();
  const desk = makeDesk();
  const facts = [
    { kind: 'decision' as const, text: 'The automobile is painted blue' },
    { kind: 'next' as const, text: 'Order the paint' },
  ];
  keepSample(desk.machine, { title: 'Colours', facts }, describePlace(desk.project, desk.machine));
  configure(desk, `[search.meaning]\nurl = "${server.url}/v1"\nmodel = "toy"\ntimeout = 1\n`);
  return { desk, server };
}

const find = async (desk: Desk, ...words: string[]): Promise<Answer> => await desk.json<Answer>(['search', ...words]);

describe('semantic search', () => {
  it('finds a fact in other words', async () => {
    const { desk, server } = await begin();
    const { hits, meaning } = await find(desk, 'vehicle');
    expect(hits[0]).toMatchObject({ what: 'fact', kind: 'decision', text: 'The automobile is painted blue' });
    expect(meaning).toEqual({ texts: 2, missing: 0, trouble: null });
    const count = server.requests.length;
    await find(desk, 'vehicle');
    expect(server.requests).toHaveLength(count);
  });

  it('makes no connection unless the user configured it, whatever a project says', async () => {
    const { desk, server } = await begin();
    configure(desk, '');
    writeIn(desk.project, '.agent-handover/config.toml', `[search.meaning]\nurl = "${server.url}/v1"\nmodel = "toy"\n`);
    expect((await find(desk, 'automobile')).meaning).toBeUndefined();
    expect(server.requests).toEqual([]);
  });

  it.each([
    ['is down', null],
    ['does not answer', 'stall'],
    ['is busy', { status: 429 }],
    ['answers nonsense', { status: 200, body: '[]' }],
  ] as const)('falls back to words, with one warning, when the model %s', async (_, answer) => {
    const { desk, server } = await begin();
    server.answer = () => answer;
    if (answer === null) await server.close();
    const { status, stdout, stderr } = await desk.run(['search', 'automobile']);
    expect(status).toBe(0);
    expect(stdout).toContain('The automobile is painted blue');
    expect(stderr.match(/^note: /gm)).toHaveLength(1);
  });

  it('embeds all facts with --embed', async () => {
    const { desk, server } = await begin();
    expect(await desk.json(['search', '--embed'])).toEqual({ texts: 2, embedded: 2, forgotten: 0 });
    expect(await desk.ok(['search', '--embed'])).toBe('embedded 0 of 2 texts; the others already were\n');
    await server.close();
    expect(errorCode(await desk.run(['search', '--embed', '--json']))).toBe('HANDOVER_REMOTE_UNREACHABLE');
    configure(desk, '');
    expect(errorCode(await desk.run(['search', '--embed', '--json']))).toBe('HANDOVER_MEANING_UNCONFIGURED');
  });
});
