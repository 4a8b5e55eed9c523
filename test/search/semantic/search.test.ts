import { describe, expect, it } from 'vitest';
import { describePlace } from '../../../src/platform/project.ts';
import type { SearchHit } from '../../../src/search/query.ts';
import { errorCode, makeSandbox, type Sandbox } from '../../support/cli.ts';
import { type EmbeddingServer, openEmbeddingServer } from '../../support/embedding-server.ts';
import { configure, writeIn } from '../../support/publishing.ts';
import { saveSample } from '../../support/samples.ts';

interface Answer {
  hits: SearchHit[];
  meaning?: { texts: number; missing: number; trouble: string | null };
}

async function begin(timeout = 30): Promise<{ sandbox: Sandbox; server: EmbeddingServer }> {
  const server = await openEmbeddingServer();
  const sandbox = makeSandbox();
  const facts = [
    { kind: 'decision' as const, text: 'The automobile is painted blue' },
    { kind: 'next' as const, text: 'Order the paint' },
  ];
  saveSample(sandbox.machine, { title: 'Colours', facts }, describePlace(sandbox.project, sandbox.machine));
  configure(sandbox, `[search.meaning]\nurl = "${server.url}/v1"\nmodel = "toy"\ntimeout = ${timeout}\n`);
  return { sandbox, server };
}

const find = async (sandbox: Sandbox, ...words: string[]): Promise<Answer> =>
  await sandbox.json<Answer>(['search', ...words]);

describe('semantic search', () => {
  it('finds a fact in other words', async () => {
    const { sandbox, server } = await begin();
    const { hits, meaning } = await find(sandbox, 'vehicle');
    expect(hits[0]).toMatchObject({ what: 'fact', kind: 'decision', text: 'The automobile is painted blue' });
    expect(meaning).toEqual({ texts: 2, missing: 0, trouble: null });
    const count = server.requests.length;
    await find(sandbox, 'vehicle');
    expect(server.requests).toHaveLength(count);
  });

  it('makes no connection unless the user configured it, whatever a project says', async () => {
    const { sandbox, server } = await begin();
    configure(sandbox, '');
    writeIn(
      sandbox.project,
      '.agent-handover/config.toml',
      `[search.meaning]\nurl = "${server.url}/v1"\nmodel = "toy"\n`,
    );
    expect((await find(sandbox, 'automobile')).meaning).toBeUndefined();
    expect(server.requests).toEqual([]);
  });

  it.each([
    ['is down', null],
    ['does not answer', 'stall'],
    ['is busy', { status: 429 }],
    ['answers nonsense', { status: 200, body: '[]' }],
  ] as const)('falls back to words, with one warning, when the model %s', async (_, answer) => {
    const { sandbox, server } = await begin(answer === 'stall' ? 1 : 30);
    server.answer = () => answer;
    if (answer === null) await server.close();
    const { status, stdout, stderr } = await sandbox.run(['search', 'automobile']);
    expect(status).toBe(0);
    expect(stdout).toContain('The automobile is painted blue');
    expect(stderr.match(/^note: /gm)).toHaveLength(1);
  });

  it('embeds all facts with --embed', async () => {
    const { sandbox, server } = await begin();
    expect(await sandbox.json(['search', '--embed'])).toEqual({ texts: 2, embedded: 2, forgotten: 0 });
    expect(await sandbox.ok(['search', '--embed'])).toBe('embedded 0 of 2 texts; the others already were\n');
    await server.close();
    expect(errorCode(await sandbox.run(['search', '--embed', '--json']))).toBe('HANDOVER_REMOTE_UNREACHABLE');
    configure(sandbox, '');
    expect(errorCode(await sandbox.run(['search', '--embed', '--json']))).toBe('HANDOVER_MEANING_UNCONFIGURED');
  });
});
