import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { errorCode, makeSandbox, type Sandbox } from '../../support/cli.ts';
import { openEmbeddingServer } from '../../support/embedding-server.ts';
import { startAgent, waitForWorkers, writeSession, writeWork } from '../../support/hooks.ts';
import { configure } from '../../support/publishing.ts';
import { saveSample } from '../../support/samples.ts';
import { listFiles, snapshotTree } from '../../support/tree.ts';

describe('handover forget', () => {
  it('accepts several ids, id prefixes and repetitions', async () => {
    const sandbox = makeSandbox();
    const ids = Array.from({ length: 4 }, (_, at) => saveSample(sandbox.machine, { title: `${at}` }).id);
    const [a = '', b = '', c = '', d = ''] = ids;
    const forgotten = await sandbox.json(['forget', a, a.toUpperCase(), b, d]);
    expect(forgotten).toEqual({ forgotten: [a, b, d] });
    expect((await sandbox.json<{ id: string }[]>(['list'])).map((row) => row.id)).toEqual([c]);
    expect(await sandbox.json(['forget', c.slice(0, 4)])).toEqual({ forgotten: [c] });
  });

  it('deletes nothing when an id is unknown or ambiguous', async () => {
    const sandbox = makeSandbox();
    const first = saveSample(sandbox.machine).id;
    saveSample(sandbox.machine);
    await sandbox.ok(['list']);
    const before = snapshotTree(`${sandbox.store}/handovers`);
    const unknown = await sandbox.run(['forget', first, '19990101', '--json']);
    expect([unknown.status, errorCode(unknown)]).toEqual([66, 'HANDOVER_NOT_FOUND']);
    const ambiguous = await sandbox.run(['forget', first, first.slice(0, 8), '--json']);
    expect([ambiguous.status, errorCode(ambiguous)]).toEqual([64, 'HANDOVER_ID_AMBIGUOUS']);
    expect((await sandbox.run(['forget'])).status).toBe(64);
    expect(snapshotTree(`${sandbox.store}/handovers`)).toEqual(before);
  });
});

/** The files of the store in whose bytes a word shows, also compressed. */
function findTraces(sandbox: Sandbox, words: readonly string[]): string[] {
  return listFiles(sandbox.store).filter((path) => {
    const bytes = readFileSync(path);
    const text = `${bytes.toString('latin1')}${path.endsWith('.gz') ? gunzipSync(bytes).toString('utf8') : ''}`;
    return words.some((word) => text.toLowerCase().includes(word));
  });
}

const FORGOTTEN = ['kumquat', 'persimmon'];

async function keepEverywhere(sandbox: Sandbox): Promise<{ id: string; session: string }> {
  const session = writeSession(sandbox);
  writeWork(session, {
    goal: 'Peel the kumquat',
    file: join(sandbox.project, 'kumquat.ts'),
    decision: 'I decided to take the persimmon, because it is ripe.',
  });
  const agent = startAgent(sandbox);
  await agent.call('SessionStart', {
    session_id: session.id,
    transcript_path: session.path,
    cwd: sandbox.project,
  });
  await agent.call('SessionEnd', {
    session_id: session.id,
    transcript_path: session.path,
    cwd: sandbox.project,
  });
  await waitForWorkers(sandbox);
  await agent.end();
  await sandbox.ok(['resume']);
  await sandbox.ok(['list', '--query', 'kumquat']);
  await sandbox.ok(['search', '--sessions', 'kumquat']);
  const rows = await sandbox.json<{ id: string; session: string | null }[]>(['list']);
  return { id: rows.find((row) => row.session === session.id)?.id ?? '', session: session.id };
}

describe('a forgotten handover', () => {
  it('leaves no byte in any file of the store when its session is forgotten too', async () => {
    const sandbox = makeSandbox();
    const server = await openEmbeddingServer();
    configure(sandbox, `[search.meaning]\nurl = "${server.url}/v1"\nmodel = "toy"\n`);
    await sandbox.save('--title', 'stays', '--decision', 'Apples stay');
    const { id, session } = await keepEverywhere(sandbox);
    await sandbox.json(['search', '--embed']);
    expect(findTraces(sandbox, FORGOTTEN).map((path) => path.replace(sandbox.store, ''))).toEqual(
      expect.arrayContaining(['/search.sqlite', '/sessions.sqlite']),
    );
    await sandbox.ok(['forget', id, '--session', session]);
    expect(findTraces(sandbox, FORGOTTEN)).toEqual([]);
    expect(await sandbox.json(['search', '--embed'])).toMatchObject({ embedded: 1, forgotten: 0 });
    expect(await sandbox.json(['search', 'apples'])).toMatchObject({ hits: [{ text: 'Apples stay' }] });
    expect(await sandbox.ok(['doctor'])).toContain('all is well');
    await server.close();
  });

  it('is removed with databases that cannot be opened here', async () => {
    const sandbox = makeSandbox();
    const { id, session } = await keepEverywhere(sandbox);
    await sandbox.ok(['forget', id, '--session', session], { env: { HANDOVER_SQLITE: 'none' } });
    expect(findTraces(sandbox, FORGOTTEN)).toEqual([]);
    expect(existsSync(join(sandbox.store, 'search.sqlite'))).toBe(false);
  });

  it('is not captured again, unless its session goes on', async () => {
    const sandbox = makeSandbox();
    const session = writeSession(sandbox);
    writeWork(session, { goal: 'Peel it', file: join(sandbox.project, 'a.ts'), decision: 'ok' });
    await sandbox.ok(['capture', '--transcript', session.path]);
    await sandbox.ok(['forget', 'latest']);
    await sandbox.run(['resume']);
    expect(await sandbox.json(['list'])).toEqual([]);
    session.transcript.human('Go on');
    session.write();
    await sandbox.ok(['resume']);
    expect(await sandbox.json(['list'])).toMatchObject([{ session: session.id }]);
  });
});

it('leaves nothing behind in the pages of an index that grew with every save', { timeout: 120_000 }, async () => {
  const sandbox = makeSandbox();
  for (let at = 0; at < 30; at++)
    await sandbox.save(`note ${at}`, '--decision', `we chose number ${at} for the thing and some more words to fill`);
  const id = await sandbox.save('Zed', '--decision', 'the secret word zanzibar is here');
  expect(await sandbox.ok(['search', 'zanzibar'])).toContain(id);
  expect(await sandbox.ok(['list'])).toContain(id);
  await sandbox.ok(['forget', id]);
  for (const path of listFiles(sandbox.store)) expect(readFileSync(path, 'latin1'), path).not.toContain('zanzibar');
});
