import { appendFileSync, chmodSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../support/cli.ts';
import { examine, makeStore } from '../../support/doctor.ts';
import { listFiles } from '../../support/tree.ts';

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

  it('leaves a handover of a newer version where it is, and says so as every list does', async () => {
    const { sandbox, path } = await makeStore();
    writeFileSync(path, readFileSync(path, 'utf8').replace('handover/1', 'handover/99'));
    for (const name of ['index.sqlite', 'index.sum']) rmSync(join(sandbox.store, name));
    for (const env of [{ HANDOVER_SQLITE: 'none' }, {}]) {
      const list = await sandbox.run(['list'], { env });
      expect(list.stderr).toContain('skipped 1 handover written by a newer version; update agent-handover');
      expect(list.stderr).not.toContain('damaged');
    }
    const id = basename(path, '.json');
    const show = await sandbox.run(['show', id]);
    expect([show.status, show.stderr]).toEqual([65, expect.stringContaining('newer version of agent-handover')]);
    expect(show.stderr).toContain('Update agent-handover');
    const before = readFileSync(path, 'utf8');
    const { status, codes } = await examine(sandbox, '--fix');
    expect([status, codes]).toEqual([0, ['newer-handover']]);
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(await sandbox.ok(['doctor'])).toContain('2 of 3 handovers intact, 1 written by a newer version');
    expect(await sandbox.json(['doctor'])).toMatchObject({ handovers: 3, intact: 2, newer: 1 });
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
