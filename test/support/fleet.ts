import { setTimeout as delay } from 'node:timers/promises';
import { offerTask, releaseTask, renewLease, takeNext } from '../../src/exchange/remote/custody.ts';
import type { Custody, Register } from '../../src/exchange/remote/register.ts';
import { type Call, judgeHistory, recordCalls } from './custody-history.ts';

/** When workers act. The times of their lives are given for a lease of `LEASE_MS`. */
export interface FleetTime {
  now(): number;
  sleep(ms: number): Promise<void>;
  run(works: readonly (() => Promise<void>)[]): Promise<void>;
  /** What a lease is by the register's clock. */
  readonly leaseMs: number;
}

/** The real clock, for a register that has its own; lives go by so many times as fast. */
export function makeRealTime(speed: number): FleetTime {
  return {
    now: () => Date.now(),
    sleep: (ms) => delay(ms / speed),
    run: async (works) => void (await Promise.all(works.map((work) => work()))),
    leaseMs: LEASE_MS / speed,
  };
}

/** A clock that stands still while anybody works, and goes on when all of them sleep. */
class VirtualTime implements FleetTime {
  readonly leaseMs: number = LEASE_MS;
  #nowMs: number;
  #running = 0;
  #sleeping: { atMs: number; wake: () => void }[] = [];

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  async run(works: readonly (() => Promise<void>)[]): Promise<void> {
    this.#running += works.length;
    await Promise.all(works.map((work) => work().finally(() => this.#rest())));
  }

  async sleep(ms: number): Promise<void> {
    await new Promise<void>((wake) => {
      this.#sleeping.push({ atMs: this.#nowMs + ms, wake });
      this.#rest();
    });
  }

  /** All that are due at one time wake together: they are to get into each other's way. */
  #rest(): void {
    this.#running--;
    if (this.#running > 0 || this.#sleeping.length === 0) return;
    this.#nowMs = Math.min(...this.#sleeping.map(({ atMs }) => atMs));
    const due = this.#sleeping.filter(({ atMs }) => atMs <= this.#nowMs);
    this.#sleeping = this.#sleeping.filter(({ atMs }) => atMs > this.#nowMs);
    this.#running += due.length;
    for (const { wake } of due) wake();
  }
}

/** Numbers from 0 to 1, the same for the same seed. */
function makeRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Killed extends Error {}

/** Dies in one of its next calls: before it, or after its effect and before the answer. */
function makeMortal(
  register: Register,
  { isDoomed, random }: { isDoomed: () => boolean; random: () => number },
): Register {
  const { takeNext: take } = register;
  const live = async <T>(call: () => Promise<T>): Promise<T> => {
    const isDying = isDoomed() && random() < 0.5;
    if (isDying && random() < 0.5) throw new Killed();
    const result = await call();
    if (isDying) throw new Killed();
    return result;
  };
  return {
    now: () => register.now(),
    read: (task) => register.read(task),
    append: (custody) => live(() => register.append(custody)),
    listOpen: (filter, limit) => register.listOpen(filter, limit),
    ...(take === undefined ? {} : { takeNext: (filter, next) => take.call(register, filter, next) }),
  };
}

/** A time in which a worker was sure to hold a task: from its take to its release, or to the end of its lease. */
interface Hold {
  task: string;
  worker: string;
  fromMs: number;
  toMs: number;
}

export interface FleetResult {
  calls: Call[];
  holds: Hold[];
  done: { task: string; worker: string }[];
  /** Writes of late holders, and how many of them the register accepted. */
  late: { tried: number; accepted: number };
  killed: number;
}

export interface Fleet {
  seed: number;
  time: Omit<FleetTime, 'run'>;
  tick: () => number;
  /** Whether all tasks are done: until then, somebody else's lease may still run out. */
  isDone(): Promise<boolean>;
  openRegister(worker: string): Register;
}

const STEP_MS = 30_000;
const START_MS = Date.UTC(2026, 0, 31, 12);
export const LEASE_MS = 600_000;
export const PROJECT = 'p-0123456789abcdef';

/**
 * Offers tasks on a register and lets a fleet do them all. Workers take one after the other; one in ten is killed while it has
 * one, some sleep for longer than their lease. Returns what happened, and all that is wrong with it.
 */
export async function tryFleet(
  { workers, tasks, seed }: { workers: number; tasks: number; seed: number },
  openRegister: (worker: string, clock: { now(): number }) => Register,
  time: FleetTime = new VirtualTime(START_MS),
): Promise<{ result: FleetResult; wrong: string[] }> {
  let ticks = 0;
  const tick = (): number => ++ticks;
  const result: FleetResult = { calls: [], holds: [], done: [], late: { tried: 0, accepted: 0 }, killed: 0 };
  const plain = openRegister('boss', time);
  const boss = recordCalls(plain, { worker: 'boss', tick, note: (call) => void result.calls.push(call) });
  const left = new Set(Array.from({ length: tasks }, (_, index) => nameTask(index)));
  const by = { writer: 'f'.repeat(32), name: 'boss' };
  for (const task of left) await offerTask(boss, { task, project: PROJECT, by, to: null, label: null });
  const isDone = async (): Promise<boolean> => {
    for (const task of left) if ((await plain.read(task))?.state === 'done') left.delete(task);
    return left.size === 0;
  };
  const open = (worker: string): Register => openRegister(worker, time);
  const fleet: Fleet = { seed, time, tick, isDone, openRegister: open };
  const works = Array.from({ length: workers }, (_, index) => async () => {
    for (let life = 0; !(await live(fleet, result, { index, life })); life++) result.killed++;
  });
  await time.run(works);
  const { graceMs } = await plain.now();
  const wrong = [...judgeHistory(result.calls, { graceMs }), ...findOverlaps(result.holds)];
  if (left.size > 0) wrong.push(`${left.size} tasks are not done`);
  if (result.late.accepted > 0) wrong.push(`${result.late.accepted} late writes were accepted`);
  return { result, wrong };
}

export function nameTask(index: number): string {
  return `20260131-${String(index).padStart(6, '0')}-k3fz`;
}

/** True when there is nothing left to do; false when it was killed. */
export async function live(
  fleet: Fleet,
  result: FleetResult,
  { index, life }: { index: number; life: number },
): Promise<boolean> {
  const { time, tick } = fleet;
  const { leaseMs } = time;
  const random = makeRandom(fleet.seed + index * 7919 + life * 104_729);
  const worker = `worker-${index}.${life}`;
  const by = { writer: (index * 1000 + life).toString(16).padStart(32, '0'), name: worker };
  const note = (call: Call): void => void result.calls.push(call);
  let isDoomed = false;
  const mortal = makeMortal(fleet.openRegister(worker), { isDoomed: () => isDoomed, random });
  const register = recordCalls(mortal, { worker, tick, note });
  try {
    for (;;) {
      isDoomed = random() < 0.1;
      const taken = await takeNext(register, {}, { by, leaseMs });
      if (taken !== null) await work(fleet, result, { taken, register, worker, random, isDoomed });
      else if (await fleet.isDone()) return true;
      else await time.sleep(STEP_MS);
    }
  } catch (error) {
    if (error instanceof Killed) return false;
    throw error;
  }
}

interface Job {
  taken: Custody;
  register: Register;
  worker: string;
  random: () => number;
  isDoomed: boolean;
}

async function work({ time }: Fleet, result: FleetResult, job: Job): Promise<void> {
  const { taken, register, worker, random } = job;
  const { task } = taken;
  const hold = { task, worker, fromMs: time.now(), toMs: Date.parse(taken.until ?? '') };
  result.holds.push(hold);
  let held = taken;
  for (let step = Math.floor(random() * 4); step >= 0; step--) {
    const isOverslept = random() < 0.06;
    await time.sleep(isOverslept ? LEASE_MS + STEP_MS * Math.ceil(random() * 8) : STEP_MS * Math.ceil(random() * 6));
    if (job.isDoomed && step === 0 && random() < 0.5) throw new Killed();
    const isLast = step === 0;
    // Whoever gives it back holds it no more, also if it is killed before it hears the answer.
    if (isLast) hold.toMs = Math.min(hold.toMs, time.now());
    const kept = await (isLast
      ? releaseTask(register, held, random() < 0.1 ? 'released' : 'done')
      : renewLease(register, held, time.leaseMs));
    if (kept.isLate) return await writeLate(result, held, register);
    held = kept.custody;
    if (!isLast) hold.toMs = Date.parse(held.until ?? '');
    if (isLast && held.state === 'done') result.done.push({ task, worker });
  }
}

/** Whatever a late holder tries, it must be told. */
async function writeLate(result: FleetResult, held: Custody, register: Register): Promise<void> {
  const tries = [
    await renewLease(register, held, LEASE_MS),
    await releaseTask(register, held, 'released'),
    await releaseTask(register, held, 'done'),
  ];
  result.late.tried += tries.length + 1;
  result.late.accepted += tries.filter(({ isLate }) => !isLate).length;
}

/** Times in which two were sure to hold one task. */
function findOverlaps(holds: readonly Hold[]): string[] {
  const sorted = [...holds].sort((a, b) => (a.task === b.task ? a.fromMs - b.fromMs : a.task < b.task ? -1 : 1));
  return sorted.flatMap((hold, index) => {
    const before = sorted[index - 1];
    if (before?.task !== hold.task || before.toMs <= hold.fromMs) return [];
    return [`${hold.task}: ${before.worker} until ${before.toMs}, ${hold.worker} from ${hold.fromMs}`];
  });
}
