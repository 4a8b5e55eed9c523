import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorCode, makeDesk } from '../support/cli.ts';
import { keepSample } from '../support/samples.ts';
import { listFiles, snapshotTree } from '../support/tree.ts';

describe('handover forget', () => {
  it('deletes what is named, also from the index, and keeps the rest', async () => {
    const desk = makeDesk();
    const secret = keepSample(desk.machine, { title: 'secret-title', summary: 'secret-summary' }).id;
    const other = keepSample(desk.machine, { title: 'stays' }).id;
    expect(await desk.ok(['list', '--query', 'secret'])).toContain(secret);
    expect(await desk.ok(['forget', secret])).toBe(`forgot handover ${secret}\n`);
    expect((await desk.json<{ id: string }[]>(['list'])).map((row) => row.id)).toEqual([other]);
    expect((await desk.run(['show', secret])).status).toBe(66);
    for (const path of listFiles(desk.store))
      expect(readFileSync(path, 'latin1'), path).not.toContain('secret-');
    expect(await desk.ok(['doctor'])).toContain('all is well');
  });

  it('takes several, beginnings, latest and repetitions', async () => {
    const desk = makeDesk();
    const ids = Array.from({ length: 4 }, (_, at) => keepSample(desk.machine, { title: `${at}` }).id);
    const [a = '', b = '', c = '', d = ''] = ids;
    const forgotten = await desk.json(['forget', a, a.toUpperCase(), b, 'latest']);
    expect(forgotten).toEqual({ forgotten: [a, b, d] });
    expect((await desk.json<{ id: string }[]>(['list'])).map((row) => row.id)).toEqual([c]);
    expect(await desk.json(['forget', c.slice(0, 4)])).toEqual({ forgotten: [c] });
  });

  it('deletes nothing when one of the names is wrong or fits more than one', async () => {
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
