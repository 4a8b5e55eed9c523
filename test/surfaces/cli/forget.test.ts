import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeSandbox } from '../../support/cli.ts';
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
});
