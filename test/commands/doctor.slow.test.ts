import { appendFileSync, chmodSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Desk, makeDesk } from '../support/cli.ts';
import { keepSample } from '../support/samples.ts';
import { listFiles, snapshotTree } from '../support/tree.ts';

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
  it('says that all is well, and changes no handover and no history', async () => {
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
      'newer',
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

  it('leaves a handover of a newer version where it is, and says so as every list does', async () => {
    const { desk, path } = await makeStore();
    writeFileSync(path, readFileSync(path, 'utf8').replace('handover/1', 'handover/99'));
    for (const name of ['index.sqlite', 'index.sum']) rmSync(join(desk.store, name));
    for (const env of [{ HANDOVER_SQLITE: 'none' }, {}]) {
      const list = await desk.run(['list'], { env });
      expect(list.stderr).toContain('skipped 1 handover written by a newer version; update agent-handover');
      expect(list.stderr).not.toContain('damaged');
    }
    const id = basename(path, '.json');
    const show = await desk.run(['show', id]);
    expect([show.status, show.stderr]).toEqual([65, expect.stringContaining('newer version of agent-handover')]);
    expect(show.stderr).toContain('Update agent-handover');
    const before = readFileSync(path, 'utf8');
    const { status, codes } = await examine(desk, '--fix');
    expect([status, codes]).toEqual([0, ['newer-handover']]);
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(await desk.ok(['doctor'])).toContain('2 of 3 handovers intact, 1 written by a newer version');
    expect(await desk.json(['doctor'])).toMatchObject({ handovers: 3, intact: 2, newer: 1 });
  });

  it.each<[string, string, (store: { desk: Desk; path: string; journal: string }) => void]>([
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
    ['an index that was cut', 'damaged-index', ({ desk }) => truncateSync(join(desk.store, 'index.sqlite'), 5000)],
    [
      'an index that is something else',
      'damaged-index',
      ({ desk }) => writeFileSync(join(desk.store, 'index.sqlite'), 'x'.repeat(9000)),
    ],
  ])('ends in 65 for %s, in 0 once it is fixed, and stays at that', async (_, code, spoil) => {
    const store = await makeStore();
    spoil(store);
    const found = await examine(store.desk);
    expect([found.status, found.codes]).toEqual([65, expect.arrayContaining([code])]);
    const [finding] = found.report.findings;
    expect(Object.keys(finding ?? {})).toEqual(['code', 'level', 'path', 'message', 'fixed', 'remedy']);
    expect(finding?.fixed).toBe(false);
    const fixed = await examine(store.desk, '--fix');
    expect([fixed.status, fixed.report.findings.every((each) => each.fixed)]).toEqual([0, true]);
    const after = await examine(store.desk);
    expect([after.status, after.report.findings.filter((each) => each.level !== 'notice')]).toEqual([0, []]);
  });

  it('ends in 65 for a handover that is missing, which it cannot bring back', async () => {
    const { desk, path } = await makeStore();
    rmSync(path);
    const { status, codes, report } = await examine(desk, '--fix');
    expect([status, codes]).toEqual([65, ['missing-handover']]);
    expect(report.findings[0]).toMatchObject({ path, level: 'damage', fixed: false, remedy: null });
  });

  it('leaves a handover of a newer version where it is, and says so as every list does', async () => {
    const { desk, path } = await makeStore();
    writeFileSync(path, readFileSync(path, 'utf8').replace('handover/1', 'handover/99'));
    for (const name of ['index.sqlite', 'index.sum']) rmSync(join(desk.store, name));
    for (const env of [{ HANDOVER_SQLITE: 'none' }, {}]) {
      const list = await desk.run(['list'], { env });
      expect(list.stderr).toContain('skipped 1 handover written by a newer version; update agent-handover');
      expect(list.stderr).not.toContain('damaged');
    }
    const id = basename(path, '.json');
    const show = await desk.run(['show', id]);
    expect([show.status, show.stderr]).toEqual([65, expect.stringContaining('newer version of agent-handover')]);
    expect(show.stderr).toContain('Update agent-handover');
    const before = readFileSync(path, 'utf8');
    const { status, codes } = await examine(desk, '--fix');
    expect([status, codes]).toEqual([0, ['newer-handover']]);
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(await desk.ok(['doctor'])).toContain('2 of 3 handovers intact, 1 written by a newer version');
    expect(await desk.json(['doctor'])).toMatchObject({ handovers: 3, intact: 2, newer: 1 });
  });

  it.each<[string, string, (store: { desk: Desk; path: string; journal: string }) => void]>([
    ['a file that is open to others', 'too-open', ({ path }) => chmodSync(path, 0o644)],
    ['a folder that is open to others', 'too-open', ({ desk }) => chmodSync(join(desk.store, 'handovers'), 0o755)],
    [
      'a journal line that was cut short',
      'torn-journal-line',
      ({ journal }) => appendFileSync(journal, '{"schema":"jour'),
    ],
    [
      'a claim that makes no sense',
      'damaged-claim',
      ({ desk }) => {
        for (const claim of listFiles(join(desk.store, 'locks'))) {
          appendFileSync(claim, 'x');
        }
      },
    ],
  ])('warns of %s, and puts it right', async (_, code, spoil) => {
    const store = await makeStore();
    spoil(store);
    const found = await examine(store.desk);
    expect([found.status, found.codes]).toEqual([0, expect.arrayContaining([code])]);
    expect(found.report.findings.every((finding) => finding.level !== 'damage')).toBe(true);
    await examine(store.desk, '--fix');
    const after = await examine(store.desk);
    expect(after.report.findings.filter((finding) => finding.level !== 'notice')).toEqual([]);
  });

  it('names what does not belong there, and leaves it alone', async () => {
    const { desk } = await makeStore();
    const stranger = join(desk.store, 'handovers', 'notes.txt');
    writeFileSync(stranger, 'mine', { mode: 0o600 });
    const { status, report } = await examine(desk, '--fix');
    expect([status, report.findings[0]?.path]).toEqual([0, stranger]);
    expect(readFileSync(stranger, 'utf8')).toBe('mine');
  });

  it('keeps what it sets aside', async () => {
    const { desk, path } = await makeStore();
    appendFileSync(path, 'tail');
    const damaged = readFileSync(path, 'utf8');
    await desk.ok(['doctor', '--fix']);
    expect(listFiles(join(desk.store, 'quarantine')).map((kept) => readFileSync(kept, 'utf8'))).toEqual([damaged]);
  });
});
