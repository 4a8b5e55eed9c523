// A worker of a fleet, as a process of its own: `fleet-worker FOLDER LOG INDEX SEED TASKS`. Its clock runs a thousand times as
// fast as the real one, so that leases of minutes end within a second. It ends with 0 when all tasks are done.
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { openFolderBlobs } from '../../../../src/exchange/remote/folder-blobs.ts';
import { openObjectRegister } from '../../../../src/exchange/remote/object-register.ts';
import { describeMachine } from '../../../../src/platform/machine.ts';
import { type Fleet, type FleetResult, LEASE_MS, live, nameTask } from '../../../support/fleet.ts';

const [folder = '', log = '', index = '', seed = '', tasks = ''] = process.argv.slice(2);
const SPEED = 1000;

/** The same for all processes of a machine. */
const tick = (): number => Number(process.hrtime.bigint());
const now = (): number => Math.floor((tick() / 1e6) * SPEED);
const time = { now, sleep: (ms: number) => delay(ms / SPEED), leaseMs: LEASE_MS };
const machine = { ...describeMachine(), clock: time };
const register = openObjectRegister(openFolderBlobs(folder, machine), { machine, triesCreation: false });
const left = new Set(Array.from({ length: Number(tasks) }, (_, number) => nameTask(number)));
const isDone = async (): Promise<boolean> => {
  for (const task of left) if ((await register.read(task))?.state === 'done') left.delete(task);
  return left.size === 0;
};

const fleet: Fleet = { seed: Number(seed), time, tick, isDone, openRegister: () => register };
const late = { tried: 0, accepted: 0 };
const calls: FleetResult['calls'] = [];
const write = (line: unknown): void => appendFileSync(log, `${JSON.stringify(line)}\n`);
calls.push = (...noted) => {
  for (const call of noted) write(call);
  return 0;
};
const result: FleetResult = { calls, holds: [], done: [], late, killed: 0 };
const isOver = await live(fleet, result, { index: Number(index), life: 0 });
write({ late });
// Whoever is killed does not tidy up.
if (!isOver) process.kill(process.pid, 'SIGKILL');
