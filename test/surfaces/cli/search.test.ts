import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeSandbox } from '../../support/cli.ts';

const sandbox = makeSandbox();

beforeAll(async () => {
  await sandbox.save('--title', 'Retries of uploads', '--next', 'Count the retries');
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

  it('says nothing about the index where there is no SQLite', async () => {
    const { stderr } = await sandbox.run(['search', 'retries'], { env: { HANDOVER_SQLITE: 'none' } });
    expect(stderr).not.toContain('index');
  });
});
