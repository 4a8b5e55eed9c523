import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Declaration } from '../../../src/handover/declare.ts';
import { describePlace } from '../../../src/platform/project.ts';
import { openStore } from '../../../src/store/store.ts';
import { type Desk, makeDesk, runGit } from '../../support/cli.ts';
import { readJournal } from '../../support/journal.ts';
import { keepSample } from '../../support/samples.ts';
import { makeClock } from '../../support/temp-store.ts';
import { snapshotTree } from '../../support/tree.ts';

const DAY_MS = 86_400_000;

interface Cleanup {
  dry_run: boolean;
  retention_days: number;
  removed: string[];
  kept: { latest: number; pinned: number };
}

/** Keeps a handover of the desk's project as if it were so many days ago. */
function keep(desk: Desk, days: number, parts: Partial<Declaration> = {}, folder = desk.project): string {
  const machine = { ...desk.machine, clock: makeClock(Date.now() - days * DAY_MS) };
  const title = parts.title ?? `work of ${days} days ago`;
  return keepSample(openStore(machine), { ...parts, title }, describePlace(folder, machine)).id;
}

const ids = async (desk: Desk): Promise<string[]> =>
  (await desk.json<{ id: string }[]>(['list', '--limit', '0'])).map(({ id }) => id);

describe('handover cleanup', () => {
  it('deletes handovers older than 90 days, lists and journals each, and counts the same in a dry run', async () => {
    const desk = makeDesk();
    const [a, b, c, d] = [200, 91, 89, 1].map((days) => keep(desk, days));
    await desk.ok(['list']);
    const before = snapshotTree(desk.store);
    const preview = await desk.json<Cleanup>(['cleanup', '--dry-run']);
    expect(snapshotTree(desk.store)).toEqual(before);
    const printed = await desk.ok(['cleanup', '--dry-run']);
    expect(printed).toContain(`would delete ${a}  work of 200 days ago`);
    expect(printed).toContain('would delete 2 handovers older than 90 days');
    const done = await desk.json<Cleanup>(['cleanup']);
    expect(done).toEqual({ ...preview, dry_run: false });
    expect(done).toEqual({
      dry_run: false,
      retention_days: 90,
      removed: [b, a],
      removed_sessions: [],
      kept: { latest: 0, pinned: 0 },
    });
    expect(await ids(desk)).toEqual([d, c]);
    const forgotten = readJournal(desk.store).filter(({ event }) => event === 'forgotten');
    expect(forgotten.map(({ subject, reason }) => [subject, reason])).toEqual([
      [b, 'older than 90 days'],
      [a, 'older than 90 days'],
    ]);
    expect(await desk.ok(['cleanup'])).toContain('deleted 0 handovers');
    expect(await desk.ok(['doctor'])).toContain('all is well');
  });

  it('keeps the latest of each worktree, however old', async () => {
    const desk = makeDesk();
    runGit(desk.project, 'init', '-q');
    runGit(desk.project, 'commit', '-q', '--allow-empty', '-m', 'one');
    const other = join(desk.folder, 'other');
    runGit(desk.project, 'worktree', 'add', '-q', other);
    keep(desk, 300);
    const here = keep(desk, 250);
    keep(desk, 400, {}, other);
    const there = keep(desk, 350, {}, other);
    const { removed, kept } = await desk.json<Cleanup>(['cleanup']);
    expect([removed.length, kept]).toEqual([2, { latest: 2, pinned: 0 }]);
    expect(await ids(desk)).toEqual([here, there]);
  });

  it('keeps a handover with a pinned fact until the fact is resolved', async () => {
    const desk = makeDesk();
    const sealed = keep(desk, 300, { pins: ['pinned when it was saved'] });
    const marked = keep(desk, 200, { facts: [{ kind: 'note', text: 'pinned later' }] });
    keep(desk, 1);
    const fact = async (id: string): Promise<string> =>
      (await desk.json<{ facts: { id: string }[] }>(['show', id])).facts[0]?.id ?? '';
    const [first, second] = [await fact(sealed), await fact(marked)];
    await desk.ok(['pin', second]);
    expect(await desk.json(['cleanup'])).toMatchObject({ removed: [], kept: { latest: 0, pinned: 2 } });
    expect(await desk.ok(['render'])).toContain('pinned later');
    await desk.ok(['resolve', first]);
    expect(await desk.json(['cleanup'])).toMatchObject({ removed: [sealed], kept: { pinned: 1 } });
    await desk.ok(['unpin', second]);
    expect(await desk.json(['cleanup'])).toMatchObject({ removed: [marked] });
  });

  it('uses HANDOFF_RETENTION_DAYS, and refuses an invalid value', async () => {
    const desk = makeDesk();
    const old = keep(desk, 8);
    keep(desk, 1);
    for (const days of ['0', '-1', 'x', '1.5']) {
      const { status, stderr } = await desk.run(['cleanup'], { env: { HANDOFF_RETENTION_DAYS: days } });
      expect([status, stderr.includes('HANDOFF_RETENTION_DAYS')], days).toEqual([78, true]);
    }
    expect((await desk.json<Cleanup>(['cleanup'])).removed).toEqual([]);
    const env = { HANDOFF_RETENTION_DAYS: '7' };
    expect(await desk.json(['cleanup'], { env })).toMatchObject({ retention_days: 7, removed: [old] });
  });
});
