import { describe, expect, it } from 'vitest';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox } from '../../support/cli.ts';

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
});
