import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Desk, errorCode, makeDesk } from '../../support/cli.ts';
import { openEmbeddingServer } from '../../support/embedding-server.ts';
import { settle, startAgent, tellWork, writeSession } from '../../support/hooks.ts';
import { configure } from '../../support/publishing.ts';
import { keepSample } from '../../support/samples.ts';
import { listFiles, snapshotTree } from '../../support/tree.ts';

describe('handover forget', () => {
  it('accepts several ids, id prefixes, latest and repetitions', async () => {
    const desk = makeDesk();
    const ids = Array.from({ length: 4 }, (_, at) => keepSample(desk.machine, { title: `${at}` }).id);
    const [a = '', b = '', c = '', d = ''] = ids;
    const forgotten = await desk.json(['forget', a, a.toUpperCase(), b, 'latest']);
    expect(forgotten).toEqual({ forgotten: [a, b, d] });
    expect((await desk.json<{ id: string }[]>(['list'])).map((row) => row.id)).toEqual([c]);
    expect(await desk.json(['forget', c.slice(0, 4)])).toEqual({ forgotten: [c] });
  });

  it('deletes nothing when an id is unknown or ambiguous', async () => {
    const desk = makeDesk();
    const first = keepSample(desk.machine).id;
    keepSample(desk.machine);
    await desk.ok(['list']);
    const before = snapshotTree(`${desk.store}/handovers`);
    const unknown = await desk.run(['forget', first, '19990101', '--json']);
    expect([unknown.status, errorCode(unknown)]).toEqual([66, 'HANDOVER_NOT_FOUND']);
    const ambiguous = await desk.run(['forget', first, first.slice(0, 8), '--json']);
    expect([ambiguous.status, errorCode(ambiguous)]).toEqual([64, 'HANDOVER_ID_AMBIGUOUS']);
    expect((await desk.run(['forget'])).status).toBe(64);
    expect(snapshotTree(`${desk.store}/handovers`)).toEqual(before);
  });
});

/** The files of the store in whose bytes a word shows, also compressed. */
function findTraces(desk: Desk, words: readonly string[]): string[] {
  return listFiles(desk.store).filter((path) => {
    const bytes = readFileSync(path);
    const text = `${bytes.toString('latin1')}${path.endsWith('.gz') ? gunzipSync(bytes).toString('utf8') : ''}`;
    return words.some((word) => text.toLowerCase().includes(word));
  });
}

const FORGOTTEN = ['kumquat', 'persimmon'];

async function keepEverywhere(desk: Desk): Promise<{ id: string; session: string }> {
  const session = writeSession(desk);
  tellWork(session, {
    goal: 'Peel the kumquat',
    file: join(desk.project, 'kumquat.ts'),
    decision: 'I decided to take the persimmon, because it is ripe.',
  });
  const agent = startAgent(desk);
  await agent.call('SessionStart', {
    session_id: session.id,
    transcript_path: session.path,
    cwd: desk.project,
  });
  await agent.call('SessionEnd', {
    session_id: session.id,
    transcript_path: session.path,
    cwd: desk.project,
  });
  await settle(desk);
  await agent.end();
  await desk.ok(['resume']);
  await desk.ok(['list', '--query', 'kumquat']);
  await desk.ok(['search', '--sessions', 'kumquat']);
  const [row] = await desk.json<{ id: string }[]>(['list']);
  return { id: row?.id ?? '', session: session.id };
}

describe('a forgotten handover', () => {
  it('leaves no byte in any file of the store when its session is forgotten too', async () => {
    const desk = makeDesk();
    const server = await openEmbeddingServer();
    configure(desk, `[search.meaning]\nurl = "${server.url}/v1"\nmodel = "toy"\n`);
    await desk.save('--title', 'stays', '--decision', 'Apples stay');
    const { id, session } = await keepEverywhere(desk);
    await desk.json(['search', '--embed']);
    expect(findTraces(desk, FORGOTTEN).map((path) => path.replace(desk.store, ''))).toEqual(
      expect.arrayContaining(['/search.sqlite', '/sessions.sqlite']),
    );
    await desk.ok(['forget', id, '--session', session]);
    expect(findTraces(desk, FORGOTTEN)).toEqual([]);
    expect(await desk.json(['search', '--embed'])).toMatchObject({ embedded: 1, forgotten: 0 });
    expect(await desk.json(['search', 'apples'])).toMatchObject({ hits: [{ text: 'Apples stay' }] });
    expect(await desk.ok(['doctor'])).toContain('all is well');
    await server.close();
  });

  it('is removed with databases that cannot be opened here', async () => {
    const desk = makeDesk();
    const { id, session } = await keepEverywhere(desk);
    await desk.ok(['forget', id, '--session', session], { env: { HANDOVER_SQLITE: 'none' } });
    expect(findTraces(desk, FORGOTTEN)).toEqual([]);
    expect(existsSync(join(desk.store, 'search.sqlite'))).toBe(false);
  });

  it('is not captured again, unless its session goes on', async () => {
    const desk = makeDesk();
    const session = writeSession(desk);
    tellWork(session, { goal: 'Peel it', file: join(desk.project, 'a.ts'), decision: 'ok' });
    await desk.ok(['capture', '--transcript', session.path]);
    await desk.ok(['forget', 'latest']);
    await desk.run(['resume']);
    expect(await desk.json(['list'])).toEqual([]);
    session.transcript.human('Go on');
    session.write();
    await desk.ok(['resume']);
    expect(await desk.json(['list'])).toMatchObject([{ session: session.id }]);
  });
});
