// Adds 1 to the number in a file `rounds` times, each time in two steps that only a lock keeps together.
import { readFileSync, writeFileSync } from 'node:fs';

const [bundle, folder, counter, rounds] = process.argv.slice(2);
const { withLock } = await import(bundle);
const bell = new Int32Array(new SharedArrayBuffer(4));

for (let round = 0; round < Number(rounds); round += 1) {
  withLock({ folder, name: 'count', waitMs: 120_000, clock: Date }, () => {
    const value = Number(readFileSync(counter, 'utf8'));
    Atomics.wait(bell, 0, 0, 1);
    writeFileSync(counter, String(value + 1));
  });
}
