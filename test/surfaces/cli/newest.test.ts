import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { declareHandover } from '../../../src/handover/declare.ts';
import { sealHandover } from '../../../src/handover/seal.ts';
import { describePlace } from '../../../src/platform/project.ts';
import { saveHandover } from '../../../src/store/handovers.ts';
import { openStore } from '../../../src/store/store.ts';
import { captureWork } from '../../support/captured-work.ts';
import { errorCode, makeSandbox } from '../../support/cli.ts';
import { makeDeclaration } from '../../support/samples.ts';

describe('the newest handover', () => {
  it('is the one of the newest work, not the one captured last', async () => {
    const sandbox = makeSandbox();
    const recent = await captureWork(sandbox, { day: 5, steps: [{ ask: 'The newest request' }, { say: 'Done.' }] });
    const late = await captureWork(sandbox, { day: 2, steps: [{ ask: 'An older request' }, { say: 'Done.' }] });
    const ids = [recent.id, late.id];
    for (const env of [{}, { HANDOVER_SQLITE: 'none' }]) {
      expect((await sandbox.json<{ id: string }[]>(['list'], { env })).map(({ id }) => id)).toEqual(ids);
      expect(await sandbox.json(['show', 'latest'], { env })).toMatchObject({ title: 'The newest request' });
      expect(await sandbox.json(['show'], { env })).toMatchObject({ id: recent.id });
      expect(await sandbox.json(['resume'], { env })).toMatchObject({ id: recent.id });
    }
    const byHand = await sandbox.save('--summary', 'Written now');
    expect(await sandbox.json(['show', 'latest'])).toMatchObject({ id: byHand });
  });

  it('is that of this project where it has one, also by the word latest', async () => {
    const sandbox = makeSandbox();
    const own = await sandbox.save('--title', 'Of this project');
    await sandbox.save('--title', 'One more', '--next', 'Go on');
    const other = join(sandbox.folder, 'other');
    mkdirSync(other);
    const elsewhere = JSON.parse(await sandbox.ok(['save', 'Of another project', '--json'], { cwd: other }));
    expect(await sandbox.json(['show', 'latest'])).toMatchObject({ title: 'One more' });
    expect(await sandbox.json(['show', 'latest'], { cwd: other })).toMatchObject({ id: elsewhere.id });
    expect(await sandbox.json(['diff', 'latest'])).toMatchObject({ first: { id: own }, second: { title: 'One more' } });
    const empty = join(sandbox.folder, 'empty');
    mkdirSync(empty);
    expect(await sandbox.json(['show', 'LATEST'], { cwd: empty })).toMatchObject({ id: elsewhere.id });
  });

  it('is as old as its work: a session of long ago is not fresh, however late it was captured', async () => {
    const sandbox = makeSandbox();
    const { id } = await captureWork(sandbox, { day: 2, steps: [{ ask: 'A request of long ago' }, { say: 'Done.' }] });
    const worked_at = '2026-02-02T09:00:00.000Z';
    expect(await sandbox.json(['debug'])).toMatchObject({ newest: { id, worked_at, restores: false } });
    expect(await sandbox.ok(['show'])).toContain(`worked   until ${worked_at}`);
    const restored = await sandbox.run(['restore', '--json']);
    expect([restored.status, errorCode(restored)]).toEqual([77, 'HANDOVER_STALE']);
    for (const env of [{}, { HANDOVER_SQLITE: 'none' }]) {
      expect(await sandbox.json(['list', '--since', '1d'], { env })).toEqual([]);
      expect(await sandbox.json(['list', '--since', '2026-02-01', '--until', '2026-02-03'], { env })).toHaveLength(1);
      expect(await sandbox.json(['list', '--until', '2026-02-01'], { env })).toEqual([]);
    }
    await sandbox.save('--summary', 'Written now');
    expect(await sandbox.ok(['restore'])).toContain('A request of long ago');
  });

  it('is listed in the order of work over many pages of an index', async () => {
    const sandbox = makeSandbox();
    const store = openStore(sandbox.machine);
    const place = describePlace(sandbox.project, sandbox.machine);
    const times: string[] = [];
    for (let each = 0; each < 60; each++) {
      const last_at = new Date(Date.UTC(2026, 0, 1, (each * 37) % 60)).toISOString();
      times.push(last_at);
      const draft = declareHandover(makeDeclaration({ title: `Work ${each}` }), place, sandbox.machine);
      const session = { ...draft.session, id: `s${each}`, last_at };
      saveHandover(store, (stamp) => sealHandover({ ...draft, ...stamp, session }));
    }
    for (const env of [{}, { HANDOVER_SQLITE: 'none' }]) {
      const rows = await sandbox.json<{ last_at: string | null }[]>(['list', '--limit', '0'], { env });
      const listed = rows.flatMap(({ last_at }) => last_at ?? []);
      expect(listed).toEqual([...times].sort().reverse());
    }
  });
});
