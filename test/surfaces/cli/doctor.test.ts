import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Desk, makeDesk } from '../../support/cli.ts';
import { keepSample } from '../../support/samples.ts';
import { listFiles, snapshotTree } from '../../support/tree.ts';

interface Report {
  findings: {
    code: string;
    level: string;
    path: string;
    message: string;
    fixed: boolean;
    remedy: string | null;
  }[];
}

async function makeStore(): Promise<{ desk: Desk; path: string; journal: string }> {
  const desk = makeDesk();
  for (const title of ['one', 'two', 'three']) keepSample(desk.machine, { title });
  await desk.ok(['list']);
  const [path = ''] = listFiles(join(desk.store, 'handovers'));
  const [journal = ''] = listFiles(join(desk.store, 'journal'));
  return { desk, path, journal };
}

async function examine(
  desk: Desk,
  ...args: string[]
): Promise<{ status: number | null; codes: string[]; report: Report }> {
  const { status, stdout } = await desk.run(['doctor', ...args, '--json']);
  const report: Report = JSON.parse(stdout);
  return { status, codes: report.findings.map((finding) => finding.code), report };
}

describe('handover doctor', () => {
  it('reports a healthy store, and changes no handover and no journal', async () => {
    const { desk } = await makeStore();
    const before = [snapshotTree(join(desk.store, 'handovers')), snapshotTree(join(desk.store, 'journal'))];
    const text = await desk.ok(['doctor']);
    expect(text).toContain('3 of 3 handovers intact, 3 journal entries');
    expect(text).toMatch(/all is well\n$/);
    const report = await desk.json(['doctor', '--fix']);
    expect(Object.keys(report)).toEqual([
      'root',
      'handovers',
      'intact',
      'journalEntries',
      'sqlite',
      'findings',
      'transcripts',
    ]);
    expect(report).toMatchObject({
      root: desk.store,
      handovers: 3,
      intact: 3,
      journalEntries: 3,
      findings: [],
    });
    expect([snapshotTree(join(desk.store, 'handovers')), snapshotTree(join(desk.store, 'journal'))]).toEqual(before);
    expect(await makeDesk().ok(['doctor'])).toContain('0 of 0 handovers intact');
  });

  it('exits with 65 for a missing handover, which it cannot restore', async () => {
    const { desk, path } = await makeStore();
    rmSync(path);
    const { status, codes, report } = await examine(desk, '--fix');
    expect([status, codes]).toEqual([65, ['missing-handover']]);
    expect(report.findings[0]).toMatchObject({ path, level: 'damage', fixed: false, remedy: null });
  });
});
