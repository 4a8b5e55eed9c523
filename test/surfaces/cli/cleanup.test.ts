import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Declaration } from '../../../src/handover/declare.ts';
import { describePlace } from '../../../src/platform/project.ts';
import { openStore } from '../../../src/store/store.ts';
import { makeSandbox, runGit, type Sandbox } from '../../support/cli.ts';
import { readJournal } from '../../support/journal.ts';
import { saveSample } from '../../support/samples.ts';
import { makeClock } from '../../support/temp-store.ts';
import { snapshotTree } from '../../support/tree.ts';

const DAY_MS = 86_400_000;

interface Cleanup {
  dry_run: boolean;
  retention_days: number;
  removed: string[];
  kept: { latest: number; pinned: number };
}

/** Saves a handover of the sandbox's project as if it were so many days ago. */
function keep(sandbox: Sandbox, days: number, parts: Partial<Declaration> = {}, folder = sandbox.project): string {
  const machine = { ...sandbox.machine, clock: makeClock(Date.now() - days * DAY_MS) };
  const title = parts.title ?? `work of ${days} days ago`;
  return saveSample(openStore(machine), { ...parts, title }, describePlace(folder, machine)).id;
}

const ids = async (sandbox: Sandbox): Promise<string[]> =>
  (await sandbox.json<{ id: string }[]>(['list', '--limit', '0'])).map(({ id }) => id);

describe('handover cleanup', () => {
  it('deletes handovers older than 90 days, lists and journals each, and counts the same in a dry run', async () => {
    const sandbox = makeSandbox();
    const [a, b, c, d] = [200, 91, 89, 1].map((days) => keep(sandbox, days));
    await sandbox.ok(['list']);
    // Indexes are caches, and may be brought up to date.
    const kept = join(sandbox.store, 'handovers');
    const before = snapshotTree(kept);
    const preview = await sandbox.json<Cleanup>(['cleanup', '--dry-run']);
    expect(snapshotTree(kept)).toEqual(before);
    const printed = await sandbox.ok(['cleanup', '--dry-run']);
    expect(printed).toContain(`would delete ${a}  work of 200 days ago`);
    expect(printed).toContain('would delete 2 handovers captured more than 90 days ago');
    const done = await sandbox.json<Cleanup>(['cleanup']);
    expect(done).toEqual({ ...preview, dry_run: false });
    expect(done).toEqual({
      dry_run: false,
      retention_days: 90,
      removed: [b, a],
      removed_sessions: [],
      kept: { latest: 0, pinned: 0 },
    });
    expect(await ids(sandbox)).toEqual([d, c]);
    const forgotten = readJournal(sandbox.store).filter(({ event }) => event === 'forgotten');
    expect(forgotten.map(({ subject, reason }) => [subject, reason])).toEqual([
      [b, 'older than 90 days'],
      [a, 'older than 90 days'],
    ]);
    expect(await sandbox.ok(['cleanup'])).toContain('deleted no handover captured more than 90 days ago');
    expect(await sandbox.ok(['doctor'])).toContain('all is well');
  });

  it('keeps the latest of each worktree, however old', async () => {
    const sandbox = makeSandbox();
    runGit(sandbox.project, 'init', '-q');
    runGit(sandbox.project, 'commit', '-q', '--allow-empty', '-m', 'one');
    const other = join(sandbox.folder, 'other');
    runGit(sandbox.project, 'worktree', 'add', '-q', other);
    keep(sandbox, 300);
    const here = keep(sandbox, 250);
    keep(sandbox, 400, {}, other);
    const there = keep(sandbox, 350, {}, other);
    const { removed, kept } = await sandbox.json<Cleanup>(['cleanup']);
    expect([removed.length, kept]).toEqual([2, { latest: 2, pinned: 0 }]);
    expect(await ids(sandbox)).toEqual([here, there]);
  });

  it('keeps a handover with a pinned fact until the fact is resolved', async () => {
    const sandbox = makeSandbox();
    const sealed = keep(sandbox, 300, { pins: ['pinned when it was saved'] });
    const marked = keep(sandbox, 200, { facts: [{ kind: 'note', text: 'pinned later' }] });
    keep(sandbox, 1);
    const fact = async (id: string): Promise<string> =>
      (await sandbox.json<{ facts: { id: string }[] }>(['show', id])).facts[0]?.id ?? '';
    const [first, second] = [await fact(sealed), await fact(marked)];
    await sandbox.ok(['pin', second]);
    expect(await sandbox.json(['cleanup'])).toMatchObject({ removed: [], kept: { latest: 0, pinned: 2 } });
    expect(await sandbox.ok(['render'])).toContain('pinned later');
    await sandbox.ok(['resolve', first]);
    expect(await sandbox.json(['cleanup'])).toMatchObject({ removed: [sealed], kept: { pinned: 1 } });
    await sandbox.ok(['unpin', second]);
    expect(await sandbox.json(['cleanup'])).toMatchObject({ removed: [marked] });
  });

  it('uses HANDOFF_RETENTION_DAYS, and refuses an invalid value', async () => {
    const sandbox = makeSandbox();
    const old = keep(sandbox, 8);
    keep(sandbox, 1);
    for (const days of ['0', 'x']) {
      const { status, stderr } = await sandbox.run(['cleanup'], { env: { HANDOFF_RETENTION_DAYS: days } });
      expect([status, stderr.includes('HANDOFF_RETENTION_DAYS')], days).toEqual([78, true]);
    }
    expect((await sandbox.json<Cleanup>(['cleanup'])).removed).toEqual([]);
    const env = { HANDOFF_RETENTION_DAYS: '7' };
    expect(await sandbox.json(['cleanup'], { env })).toMatchObject({ retention_days: 7, removed: [old] });
  });
});
