// Enters and leaves `rounds` times, dying inside in round `dieAt` (0: never), and writes down every time that it
// meets another live process inside. The link `inside` appears together with the pid it points to.
import { appendFileSync, readFileSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

const [bundle, folder, arena, rounds, dieAt] = process.argv.slice(2);
const { withLock } = await import(bundle);
const bell = new Int32Array(new SharedArrayBuffer(4));
const inside = join(arena, 'inside');
const me = String(process.pid);

function note(file, text) {
  appendFileSync(join(arena, file), `${text}\n`);
}

function runs(pid) {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      return !['Z', 'X'].includes(stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3));
    } catch (error) {
      if (error.code === 'ENOENT' || error.code === 'ESRCH') return false;
      throw error;
    }
  }
  try {
    return process.kill(Number(pid), 0);
  } catch (error) {
    if (error.code === 'ESRCH') return false;
    throw error;
  }
}

function enter() {
  try {
    symlinkSync(me, inside);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    const other = readlinkSync(inside);
    if (runs(other)) note('violations', `${me} met ${other}`);
    note('found-dead', other);
    unlinkSync(inside);
    symlinkSync(me, inside);
  }
}

for (let round = 1; round <= Number(rounds); round += 1) {
  withLock({ folder, name: 'arena', waitMs: 120_000, clock: Date }, () => {
    enter();
    Atomics.wait(bell, 0, 0, 1);
    if (round === Number(dieAt)) process.kill(process.pid, 'SIGKILL');
    if (readlinkSync(inside) !== me) note('violations', `${me} was replaced`);
    unlinkSync(inside);
  });
}
