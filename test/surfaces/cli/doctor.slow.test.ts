import { appendFileSync, chmodSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { saveSample } from '../../support/samples.ts';
import { listFiles } from '../../support/tree.ts';

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
  it.each<[string, string, (store: { sandbox: Sandbox; path: string; journal: string }) => void]>([
    [
      'a handover that was edited',
      'damaged-handover',
      ({ path }) => writeFileSync(path, readFileSync(path, 'utf8').replace('manual', 'manuel')),
    ],
    ['a handover that was cut', 'damaged-handover', ({ path }) => truncateSync(path, 100)],
    [
      'a journal line that was edited',
      'damaged-journal-line',
      ({ journal }) => writeFileSync(journal, readFileSync(journal, 'utf8').replace('saved', 'slved')),
    ],
    [
      'an index that was cut',
      'damaged-index',
      ({ sandbox }) => truncateSync(join(sandbox.store, 'index.sqlite'), 5000),
    ],
    [
      'an index that is something else',
      'damaged-index',
      ({ sandbox }) => writeFileSync(join(sandbox.store, 'index.sqlite'), 'x'.repeat(9000)),
    ],
  ])('exits with 65 for %s, and with 0 once it is fixed', async (_, code, spoil) => {
    const store = await makeStore();
    spoil(store);
    const found = await examine(store.sandbox);
    expect([found.status, found.codes]).toEqual([65, expect.arrayContaining([code])]);
    const [finding] = found.report.findings;
    expect(Object.keys(finding ?? {})).toEqual(['code', 'level', 'path', 'message', 'fixed', 'remedy']);
    expect(finding?.fixed).toBe(false);
    const fixed = await examine(store.sandbox, '--fix');
    expect([fixed.status, fixed.report.findings.every((each) => each.fixed)]).toEqual([0, true]);
    const after = await examine(store.sandbox);
    expect([after.status, after.report.findings.filter((each) => each.level !== 'notice')]).toEqual([0, []]);
  });

  it.each<[string, string, (store: { sandbox: Sandbox; path: string; journal: string }) => void]>([
    ['a file that is open to others', 'too-open', ({ path }) => chmodSync(path, 0o644)],
    [
      'a folder that is open to others',
      'too-open',
      ({ sandbox }) => chmodSync(join(sandbox.store, 'handovers'), 0o755),
    ],
    [
      'a journal line that was cut short',
      'torn-journal-line',
      ({ journal }) => appendFileSync(journal, '{"schema":"jour'),
    ],
    [
      'a claim that makes no sense',
      'damaged-claim',
      ({ sandbox }) => {
        for (const claim of listFiles(join(sandbox.store, 'locks'))) {
          appendFileSync(claim, 'x');
        }
      },
    ],
  ])('warns of %s, and repairs it with --fix', async (_, code, spoil) => {
    const store = await makeStore();
    spoil(store);
    const found = await examine(store.sandbox);
    expect([found.status, found.codes]).toEqual([0, expect.arrayContaining([code])]);
    expect(found.report.findings.every((finding) => finding.level !== 'damage')).toBe(true);
    await examine(store.sandbox, '--fix');
    const after = await examine(store.sandbox);
    expect(after.report.findings.filter((finding) => finding.level !== 'notice')).toEqual([]);
  });

  it('reports unknown files, and leaves them alone', async () => {
    const { sandbox } = await makeStore();
    const unknownFile = join(sandbox.store, 'handovers', 'notes.txt');
    writeFileSync(unknownFile, 'mine', { mode: 0o600 });
    const { status, report } = await examine(sandbox, '--fix');
    expect([status, report.findings[0]?.path]).toEqual([0, unknownFile]);
    expect(readFileSync(unknownFile, 'utf8')).toBe('mine');
  });

  it('quarantines damaged files without deleting them', async () => {
    const { sandbox, path } = await makeStore();
    appendFileSync(path, 'tail');
    const damaged = readFileSync(path, 'utf8');
    await sandbox.ok(['doctor', '--fix']);
    expect(listFiles(join(sandbox.store, 'quarantine')).map((kept) => readFileSync(kept, 'utf8'))).toEqual([damaged]);
  });
});
