import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../../src/model/handover.ts';
import { inPairs, makeSandbox } from '../../support/cli.ts';
import { listFiles } from '../../support/tree.ts';

describe('handover restore', () => {
  it('succeeds for one of many concurrent processes', async () => {
    const sandbox = makeSandbox();
    const id = await sandbox.save('--summary', 'Half done');
    const runs = await inPairs([1, 2, 3, 4, 5, 6, 7, 8], () => sandbox.run(['restore', '--json']));
    expect(runs.filter(({ status }) => status === 0)).toHaveLength(1);
    expect(runs.filter(({ status }) => status === 77)).toHaveLength(7);
    expect((await sandbox.json<{ status: string }[]>(['list', '--status']))[0]).toMatchObject({
      id,
      status: 'consumed',
    });
  });
});

describe('handover debug', () => {
  it.each(['node', 'none'])('exits with 65 when a file is damaged (HANDOVER_SQLITE=%s)', async (driver) => {
    const sandbox = makeSandbox();
    await sandbox.save('--summary', 'Half done');
    const id = await sandbox.save('--summary', 'More');
    const path = listFiles(join(sandbox.store, 'handovers')).find((file) => file.includes(id)) ?? '';
    const handover: Handover = await sandbox.json(['show', id]);
    writeFileSync(path, JSON.stringify({ ...handover, title: 'Changed' }));
    const { status, stdout } = await sandbox.run(['debug', '--json'], { env: { HANDOVER_SQLITE: driver } });
    expect([status, JSON.parse(stdout).damaged]).toEqual([65, [path]]);
  });
});
