import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { saveSample } from '../../support/samples.ts';
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

async function makeStore(): Promise<{ sandbox: Sandbox; path: string; journal: string }> {
  const sandbox = makeSandbox();
  for (const title of ['one', 'two', 'three']) saveSample(sandbox.machine, { title });
  await sandbox.ok(['list']);
  const [path = ''] = listFiles(join(sandbox.store, 'handovers'));
  const [journal = ''] = listFiles(join(sandbox.store, 'journal'));
  return { sandbox, path, journal };
}

async function examine(
  sandbox: Sandbox,
  ...args: string[]
): Promise<{ status: number | null; codes: string[]; report: Report }> {
  const { status, stdout } = await sandbox.run(['doctor', ...args, '--json']);
  const report: Report = JSON.parse(stdout);
  return { status, codes: report.findings.map((finding) => finding.code), report };
}

describe('handover doctor', () => {
  it('reports a healthy store, and changes no handover and no journal', async () => {
    const { sandbox } = await makeStore();
    const before = [snapshotTree(join(sandbox.store, 'handovers')), snapshotTree(join(sandbox.store, 'journal'))];
    const text = await sandbox.ok(['doctor']);
    expect(text).toContain('3 of 3 handovers intact, 3 journal entries');
    expect(text).toMatch(/all is well\n$/);
    const report = await sandbox.json(['doctor', '--fix']);
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
      root: sandbox.store,
      handovers: 3,
      intact: 3,
      journalEntries: 3,
      findings: [],
    });
    expect([snapshotTree(join(sandbox.store, 'handovers')), snapshotTree(join(sandbox.store, 'journal'))]).toEqual(
      before,
    );
    expect(await makeSandbox().ok(['doctor'])).toContain('0 of 0 handovers intact');
  });

  it('exits with 65 for a missing handover, which it cannot restore', async () => {
    const { sandbox, path } = await makeStore();
    rmSync(path);
    const { status, codes, report } = await examine(sandbox, '--fix');
    expect([status, codes]).toEqual([65, ['missing-handover']]);
    expect(report.findings[0]).toMatchObject({ path, level: 'damage', fixed: false, remedy: null });
  });
});
