import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeDesk } from '../../support/cli.ts';
import { keepSample } from '../../support/samples.ts';
import { listFiles } from '../../support/tree.ts';

describe('handover forget', () => {
  it('deletes the named handover, also from the index, and keeps the others', async () => {
    const desk = makeDesk();
    const secret = keepSample(desk.machine, { title: 'secret-title', summary: 'secret-summary' }).id;
    const other = keepSample(desk.machine, { title: 'stays' }).id;
    expect(await desk.ok(['list', '--query', 'secret'])).toContain(secret);
    expect(await desk.ok(['forget', secret])).toBe(`forgot handover ${secret}\n`);
    expect((await desk.json<{ id: string }[]>(['list'])).map((row) => row.id)).toEqual([other]);
    expect((await desk.run(['show', secret])).status).toBe(66);
    for (const path of listFiles(desk.store)) expect(readFileSync(path, 'latin1'), path).not.toContain('secret-');
    expect(await desk.ok(['doctor'])).toContain('all is well');
  });
});
