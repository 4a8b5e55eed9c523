import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { acquireLock } from '../../../src/platform/lock.ts';
import { systemClock } from '../../../src/platform/machine.ts';
import { makeSandbox, runGit } from '../../support/cli.ts';

const sandbox = makeSandbox();

beforeAll(async () => {
  await sandbox.save('--title', 'Retries of uploads', '--next', 'Count the retries');
});

describe('handover search', () => {
  it('leaves out what is only spelled alike where something has the word, and else marks it', async () => {
    const own = makeSandbox();
    await own.save('--title', 'Rooms', '--note', 'The room list is slow', '--note', 'The boom of the crane is long');
    const find = async (words: string): Promise<{ text: string; near?: true }[]> =>
      (await own.json<{ hits: { text: string; near?: true }[] }>(['search', words])).hits;
    for (const env of [{}, { HANDOVER_SQLITE: 'none' }])
      expect(await own.json(['search', 'boom'], { env })).toMatchObject({
        hits: [{ text: 'The boom of the crane is long' }],
      });
    expect((await find('boom')).map(({ near }) => near)).toEqual([undefined]);
    const mistyped = await find('cranne');
    expect(mistyped.map(({ text, near }) => [text, near])).toEqual([['The boom of the crane is long', true]]);
    expect(await own.ok(['search', 'cranne'])).toContain('  near match, declared');
  });

  it('shows a fact once, whatever remote its project had when it was saved', async () => {
    const own = makeSandbox();
    runGit(own.project, 'init', '--quiet');
    runGit(own.project, 'commit', '--quiet', '--allow-empty', '-m', 'begin');
    for (const name of ['one', 'two']) {
      runGit(own.project, 'config', 'remote.origin.url', `https://example.org/a/${name}.git`);
      await own.save('--title', `Saved as ${name}`, '--decision', 'Uploads retry five times');
    }
    for (const env of [{}, { HANDOVER_SQLITE: 'none' }])
      for (const scope of [[], ['--project', '.']]) {
        const { hits } = await own.json<{ hits: object[] }>(['search', 'retry', '--kind', 'decision', ...scope], {
          env,
        });
        expect(hits).toMatchObject([{ text: 'Uploads retry five times', from: { handovers: 2 } }]);
        expect(hits).toHaveLength(1);
      }
  });
});

describe('handover search without a usable index', () => {
  it('reads the files, says so with what to type next, and is silent once the index works', async () => {
    const index = join(sandbox.store, 'search.sqlite');
    mkdirSync(index);
    const note = /note: the search index is not usable right now \(.+\), so every file was read; see: handover doctor/;
    const { status, stdout, stderr } = await sandbox.run(['search', 'retries']);
    expect([status, stdout]).toEqual([0, expect.stringContaining('Count the retries')]);
    expect(stderr).toMatch(note);
    const json = await sandbox.run(['search', '--json', 'retries']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      by: 'scan',
      index_failure: expect.stringContaining('search.sqlite'),
    });
    expect((await sandbox.run(['files', '--all'])).stderr).toMatch(note);
    rmSync(index, { recursive: true });
    const healed = await sandbox.run(['search', '--json', 'retries']);
    expect(JSON.parse(healed.stdout)).toMatchObject({ by: 'index' });
    expect(healed.stdout).not.toContain('index_failure');
    expect(healed.stderr).toBe('');
  });

  it('does not speak of damage while another process holds the index', async () => {
    rmSync(join(sandbox.store, 'search.sqlite'), { force: true });
    const lock = acquireLock({ folder: join(sandbox.store, 'locks'), name: 'search', waitMs: 0, clock: systemClock });
    try {
      const { status, stdout, stderr } = await sandbox.run(['search', 'retries']);
      expect([status, stdout]).toEqual([0, expect.stringContaining('Count the retries')]);
      expect(stderr).toBe('note: another process is writing the search index, so every file was read\n');
    } finally {
      lock.release();
    }
  });

  it('says nothing about the index where there is no SQLite', async () => {
    const { stderr } = await sandbox.run(['search', 'retries'], { env: { HANDOVER_SQLITE: 'none' } });
    expect(stderr).not.toContain('index');
  });
});
