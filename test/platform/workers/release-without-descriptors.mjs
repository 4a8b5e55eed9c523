// Releases while no descriptor is left, then takes the same lock again.
import { closeSync, openSync } from 'node:fs';

const [bundle, folder] = process.argv.slice(2);
const { acquireLock } = await import(bundle);
const options = { folder, name: 'scarce', waitMs: 0, clock: Date };

const lock = acquireLock(options);
const taken = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch (error) {
  if (error.code !== 'EMFILE') throw error;
}
lock.release();
for (const fd of taken) closeSync(fd);
acquireLock(options).release();
process.stdout.write('released\n');
