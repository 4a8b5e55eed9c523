import { describe, expect, it } from 'vitest';
import { openFolderBlobs } from '../../../src/exchange/remote/folder-blobs.ts';
import { openObjectRegister } from '../../../src/exchange/remote/object-register.ts';
import { describeMachine } from '../../../src/platform/machine.ts';
import { makeTempFolder } from '../../support/cli.ts';
import { tryFleet } from '../../support/fleet.ts';

describe('a fleet on a shared folder', () => {
  it('does each task once, by one holder at a time, though workers are killed and oversleep', async () => {
    let [killed, late] = [0, 0];
    // In a few of a hundred fleets hardly anybody dies, or nobody is late: that proves nothing yet.
    while (killed < 3 || late < 3) {
      const seed = Math.floor(Math.random() * 2 ** 31);
      process.stdout.write(`fleet: seed ${seed}\n`);
      const folder = makeTempFolder();
      const { result, wrong } = await tryFleet({ workers: 12, tasks: 60, seed }, (_, clock) => {
        const machine = { ...describeMachine(), clock };
        return openObjectRegister(openFolderBlobs(folder, machine), { machine, triesCreation: false });
      });
      process.stdout.write(
        `fleet: ${result.calls.length} calls, ${result.killed} killed, ${result.late.tried} late writes refused\n`,
      );
      expect(wrong).toEqual([]);
      killed += result.killed;
      late += result.late.tried;
    }
  });
});
