import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { acquireLock } from '../../src/platform/lock.ts';
import { systemClock } from '../../src/platform/machine.ts';
import { makeDesk } from '../support/cli.ts';

const desk = makeDesk();

beforeAll(async () => {
  await desk.save('--title', 'Retries of uploads', '--next', 'Count the retries');
});

describe('search, where the index cannot be used', () => {
  it('reads the files, says so with what to type next, and is silent again when it can', async () => {
    const index = join(desk.store, 'search.sqlite');
    mkdirSync(index);
    const note = /note: the search index is not usable right now \(.+\), so every file was read; see: handover doctor/;
    const { status, stdout, stderr } = await desk.run(['search', 'retries']);
    expect([status, stdout]).toEqual([0, expect.stringContaining('Count the retries')]);
    expect(stderr).toMatch(note);
    const json = await desk.run(['search', '--json', 'retries']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      by: 'scan',
      index_failure: expect.stringContaining('search.sqlite'),
    });
    expect((await desk.run(['files', '--all'])).stderr).toMatch(note);
    rmSync(index, { recursive: true });
    const healed = await desk.run(['search', '--json', 'retries']);
    expect(JSON.parse(healed.stdout)).toMatchObject({ by: 'index' });
    expect(healed.stdout).not.toContain('index_failure');
    expect(healed.stderr).toBe('');
  });

  it('does not speak of damage while another process holds the index', async () => {
    rmSync(join(desk.store, 'search.sqlite'), { force: true });
    const lock = acquireLock({ folder: join(desk.store, 'locks'), name: 'search', waitMs: 0, clock: systemClock });
    try {
      const { status, stdout, stderr } = await desk.run(['search', 'retries']);
      expect([status, stdout]).toEqual([0, expect.stringContaining('Count the retries')]);
      expect(stderr).toBe('note: another process is writing the search index, so every file was read\n');
    } finally {
      lock.release();
    }
  });

  it('says nothing of it without SQLite, where files are all there is', async () => {
    const { stderr } = await desk.run(['search', 'retries'], { env: { HANDOVER_SQLITE: 'none' } });
    expect(stderr).not.toContain('index');
  });
});
