import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeSelf, formatIdentity } from '../../../src/platform/process-identity.ts';
import { SESSION_ID } from '../../fixtures/agents/claude-code.ts';
import { makeSandbox } from '../../support/cli.ts';
import { capture, QUEUE } from '../../support/marks.ts';
import { saveSample } from '../../support/samples.ts';
import { listFiles } from '../../support/tree.ts';

describe('handover forget', () => {
  it('deletes the named handover, also from the index, and keeps the others', async () => {
    const sandbox = makeSandbox();
    const secret = saveSample(sandbox.machine, { title: 'secret-title', summary: 'secret-summary' }).id;
    const other = saveSample(sandbox.machine, { title: 'stays' }).id;
    expect(await sandbox.ok(['list', '--query', 'secret'])).toContain(secret);
    expect(await sandbox.ok(['forget', secret])).toBe(`forgot handover ${secret}\n`);
    expect((await sandbox.json<{ id: string }[]>(['list'])).map((row) => row.id)).toEqual([other]);
    expect((await sandbox.run(['show', secret])).status).toBe(66);
    for (const path of listFiles(sandbox.store)) expect(readFileSync(path, 'latin1'), path).not.toContain('secret-');
    expect(await sandbox.ok(['doctor'])).toContain('all is well');
  });

  it('deletes what killed processes had begun to write, and leaves what living ones write', async () => {
    const sandbox = makeSandbox();
    const id = await sandbox.save('Words that are to go');
    const { status, pid } = spawnSync(process.execPath, ['-e', '0']);
    expect(status).toBe(0);
    const [dead, living] = [{ ...describeSelf(), pid, start: '1' }, describeSelf()].map(formatIdentity);
    const names = [
      ...['search.sqlite', 'index.sqlite'].flatMap((name) => [
        `.${name}.${dead}.0.tmp`,
        `.${name}.${dead}.0.tmp-journal`,
      ]),
      `.search.sqlite.${living}.0.tmp`,
    ];
    for (const name of names) writeFileSync(join(sandbox.store, name), 'Words that are to go');
    await sandbox.ok(['forget', id]);
    expect(readdirSync(sandbox.store).filter((name) => name.includes('.tmp'))).toEqual([names.at(-1)]);
  });

  it('names the handovers that hold the same facts, and those of a session whose text was deleted', async () => {
    const sandbox = makeSandbox();
    const first = await sandbox.save('First', '--decision', 'Use kumquats');
    const second = await sandbox.save('Second');
    const { stderr } = await sandbox.run(['forget', first]);
    expect(stderr).toContain(`also in 1 other handover, which stays: ${second}\n`);
    expect((await sandbox.run(['forget', second])).stderr).toBe('');
    const { id } = await capture(sandbox, [QUEUE]);
    await sandbox.ok(['search', '--sessions', 'queue']);
    expect((await sandbox.run(['forget', '--session', SESSION_ID])).stderr).toContain(`handover forget ${id}\n`);
  });

  it('deletes everything with --all, but not without being told twice', async () => {
    const sandbox = makeSandbox();
    for (const title of ['secret-one', 'secret-two']) saveSample(sandbox.machine, { title });
    await sandbox.ok(['save', 'a note', '--next', 'secret-step', '--decision', 'secret-choice']);
    await sandbox.ok(['resolve', 'secret-step', '--because', 'secret-reason']);
    await sandbox.ok(['refute', 'secret-choice', '--because', 'secret "öther"\treason']);
    await sandbox.ok(['search', 'secret']);
    const refused = await sandbox.run(['forget', '--all']);
    expect([refused.status, refused.stderr]).toEqual([64, expect.stringContaining('3 handovers of 2 projects')]);
    expect((await sandbox.run(['forget', '--all', '--yes', '20261115'])).status).toBe(64);
    expect((await sandbox.json<{ forgotten: string[] }>(['forget', '--all', '--yes'])).forgotten).toHaveLength(3);
    expect(await sandbox.json(['list'])).toEqual([]);
    for (const path of listFiles(sandbox.store)) expect(readFileSync(path, 'utf8'), path).not.toMatch(/secret|öther/);
    expect(await sandbox.ok(['doctor'])).toContain('all is well');
    expect((await sandbox.json<{ forgotten: string[] }>(['forget', '--all', '--yes'])).forgotten).toEqual([]);
  });
});
