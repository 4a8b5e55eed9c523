import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HandoverError } from '../../../src/errors.ts';
import type { BlobStore } from '../../../src/exchange/remote/blobs.ts';
import * as custody from '../../../src/exchange/remote/custody.ts';
import { openFolderBlobs } from '../../../src/exchange/remote/folder-blobs.ts';
import { GRACE_MS, openObjectRegister } from '../../../src/exchange/remote/object-register.ts';
import type { Custody, Register } from '../../../src/exchange/remote/register.ts';
import { describeMachine } from '../../../src/platform/machine.ts';
import { makeTempFolder } from '../../support/cli.ts';

const TASK = '20260131-120000-k3fz';
const OTHER = '20260131-120001-9xyz';
const PROJECT = 'p-0123456789abcdef';
const LEASE_MS = 600_000;
const ada = { writer: 'a'.repeat(32), name: 'ada' };
const ben = { writer: 'b'.repeat(32), name: 'ben' };

/** A register in a folder, with a clock that the test sets. */
function makeRegister(wrap: (blobs: BlobStore) => BlobStore = (blobs) => blobs, triesCreation = false) {
  const folder = makeTempFolder();
  const time = { nowMs: Date.UTC(2026, 0, 31, 12) };
  const machine = { ...describeMachine(), clock: { now: () => time.nowMs } };
  const blobs = wrap(openFolderBlobs(folder, machine));
  return { folder, time, blobs, register: openObjectRegister(blobs, { machine, triesCreation }) };
}

async function offer(register: Register, changes: Partial<custody.Offer> = {}): Promise<Custody> {
  return await custody.offerTask(register, {
    task: TASK,
    project: PROJECT,
    by: ada,
    to: null,
    label: null,
    ...changes,
  });
}

async function take(register: Register, by: custody.Holder, task = TASK): Promise<Custody> {
  return await custody.takeTask(register, { task, project: PROJECT, by, leaseMs: LEASE_MS });
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof HandoverError ? error.code : `not refused: ${String(error)}`;
}

describe('a task', () => {
  it('has one holder at a time, whose number grows with every one', async () => {
    const { register } = makeRegister();
    await offer(register);
    const first = await take(register, ada);
    expect(await codeOf(take(register, ben))).toBe('HANDOVER_TASK_HELD');
    expect(await codeOf(offer(register, { by: ben }))).toBe('HANDOVER_TASK_HELD');
    expect(await custody.releaseTask(register, first, 'released')).toMatchObject({ isLate: false });
    const second = await take(register, ben);
    expect(second).toMatchObject({ state: 'held', holder: ben, until: '2026-01-31T12:10:00.000Z' });
    expect(second.number).toBeGreaterThan(first.number);
  });

  it('can be taken though nobody offered it, and is found when its lease is over', async () => {
    const { register, time } = makeRegister();
    await take(register, ada);
    expect(await register.listOpen({}, 9)).toEqual([]);
    time.nowMs += LEASE_MS + GRACE_MS + 1;
    expect(await custody.takeNext(register, {}, { by: ben, leaseMs: LEASE_MS })).toMatchObject({
      task: TASK,
      holder: ben,
    });
  });

  it('that is offered to one is refused to all others, until that one released it', async () => {
    const { register } = makeRegister();
    await offer(register, { to: 'ben' });
    expect(await codeOf(take(register, ada))).toBe('HANDOVER_REMOTE_REFUSED');
    expect(await custody.takeNext(register, {}, { by: ada, leaseMs: LEASE_MS })).toBeNull();
    const held = await take(register, ben);
    await custody.releaseTask(register, held, 'released');
    expect(await take(register, ada)).toMatchObject({ holder: ada });
  });

  it('can be taken by another when lease and grace are over, not a millisecond before; the first is then late with all it does', async () => {
    const { register, time } = makeRegister();
    const held = await take(register, ada);
    time.nowMs += LEASE_MS + GRACE_MS;
    expect(await codeOf(take(register, ben))).toBe('HANDOVER_TASK_HELD');
    time.nowMs += 1;
    const newest = await take(register, ben);
    const late = { isLate: true, newest };
    expect(await custody.renewLease(register, held, LEASE_MS)).toEqual(late);
    expect(await custody.releaseTask(register, held, 'released')).toEqual(late);
    expect(await custody.releaseTask(register, held, 'done')).toEqual(late);
    expect(await register.read(TASK)).toEqual(newest);
  });

  it('stays with a holder who renews, even late, as long as nobody took it', async () => {
    const { register, time } = makeRegister();
    let held = await take(register, ada);
    for (const pauseMs of [LEASE_MS - 1, LEASE_MS + GRACE_MS + 9]) {
      time.nowMs += pauseMs;
      const kept = await custody.renewLease(register, held, LEASE_MS);
      if (kept.isLate) throw new Error('late');
      held = kept.custody;
      expect(await codeOf(take(register, ben))).toBe('HANDOVER_TASK_HELD');
    }
  });

  it('is done once, for good', async () => {
    const { register, folder } = makeRegister();
    await offer(register);
    await custody.releaseTask(register, await take(register, ada), 'done');
    expect(await codeOf(take(register, ben))).toBe('HANDOVER_STATUS_FINAL');
    expect(await codeOf(offer(register))).toBe('HANDOVER_STATUS_FINAL');
    expect(readdirSync(join(folder, 'custody-open', PROJECT))).toEqual([]);
  });

  it('can be handed on by whoever holds it', async () => {
    const { register } = makeRegister();
    const held = await take(register, ada);
    await offer(register, { held, to: 'ben' });
    expect(await custody.renewLease(register, held, LEASE_MS)).toMatchObject({ isLate: true });
    expect(await take(register, ben)).toMatchObject({ number: 3 });
  });

  it('is not renewed on a remote that has forgotten who holds it', async () => {
    const { register, folder } = makeRegister();
    await offer(register);
    const held = await take(register, ada);
    rmSync(join(folder, 'custody', TASK, '00000002'));
    expect(await codeOf(custody.renewLease(register, held, LEASE_MS))).toBe('HANDOVER_REMOTE_REFUSED');
  });
});

describe('open tasks', () => {
  it('come oldest first, by project and label', async () => {
    const { register, time } = makeRegister();
    await offer(register, { task: OTHER, label: 'nightly' });
    time.nowMs += 1000;
    await offer(register);
    time.nowMs += 1000;
    await offer(register, { task: '20260131-120002-aaaa', project: 'p-fedcba9876543210' });
    const list = async (...[filter, limit = 9]: [Parameters<Register['listOpen']>[0], number?]): Promise<string[]> =>
      (await register.listOpen(filter, limit)).map(({ task }) => task);
    expect(await list({})).toEqual([OTHER, TASK, '20260131-120002-aaaa']);
    expect(await list({}, 1)).toEqual([OTHER]);
    expect(await list({ project: PROJECT })).toEqual([OTHER, TASK]);
    expect(await list({ label: 'nightly' })).toEqual([OTHER]);
    expect(await list({ label: 'daily' })).toEqual([]);
    await offer(register, { task: OTHER, label: 'daily' });
    expect([await list({ label: 'nightly' }), await list({ label: 'daily' })]).toEqual([[], [OTHER]]);
    expect(await list({})).toEqual([OTHER, TASK, '20260131-120002-aaaa']);
  });

  it('are found though somebody was killed between a marker and its state, or before a marker was removed', async () => {
    const { register, folder, blobs } = makeRegister();
    await blobs.create(`custody-open/${PROJECT}/000000000000001_${OTHER}_-`, Buffer.from(OTHER));
    await offer(register);
    expect(await register.listOpen({}, 9)).toMatchObject([{ task: TASK }]);
    const [marker = ''] = readdirSync(join(folder, 'custody-open', PROJECT)).filter((name) => name.includes(TASK));
    await custody.releaseTask(register, await take(register, ada), 'done');
    await blobs.create(`custody-open/${PROJECT}/${marker}`, Buffer.from(TASK));
    expect(await register.listOpen({}, 9)).toEqual([]);
    expect(readdirSync(join(folder, 'custody-open', PROJECT))).toEqual([`000000000000001_${OTHER}_-`]);
  });

  it('are not hidden by one whose state makes no sense; whoever names that one is told', async () => {
    const { register, folder } = makeRegister();
    await offer(register);
    await offer(register, { task: OTHER });
    const seed = Math.floor(Math.random() * 2 ** 31);
    process.stdout.write(`states of a liar: seed ${seed}\n`);
    const lies = fc.oneof(fc.string(), fc.json(), fc.constant('x'.repeat(5000)), fc.constant('['.repeat(4000)));
    for (const lie of fc.sample(lies, { seed, numRuns: 50 })) {
      writeFileSync(join(folder, 'custody', OTHER, '00000002'), lie);
      expect(await register.listOpen({}, 9)).toMatchObject([{ task: TASK }]);
      expect(await codeOf(take(register, ben, OTHER))).toMatch(/^HANDOVER_(?:INPUT|JSON|TEXT)_/);
    }
  });
});

describe('what a remote says of a task', () => {
  it('is refused unless it is a state of that task', async () => {
    const { register } = makeRegister();
    const good = await take(register, ada);
    expect(custody.parseCustody(good, TASK)).toEqual(good);
    for (const wrong of [
      { task: OTHER },
      { number: 0 },
      { number: 1.5 },
      { until: null },
      { state: 'offered' },
      { holder: { writer: 'x', name: 'ada' } },
      { label: '../etc' },
      { project: '../../x' },
      { at: 'now' },
    ])
      expect(() => custody.parseCustody({ ...good, ...wrong }, TASK)).toThrow('cannot be used');
  });

  it('is parsed or refused, whatever it is', () => {
    const check = fc.property(fc.anything(), (input) => {
      try {
        custody.parseCustody(input);
      } catch (error) {
        expect(error).toBeInstanceOf(HandoverError);
      }
    });
    fc.assert(check, { numRuns: 2000 });
  });
});

describe('a register of blobs', () => {
  it('refuses a server that lets two create one name, before anything is written', async () => {
    const written: string[] = [];
    const careless = (blobs: BlobStore): BlobStore => ({
      ...blobs,
      create: async (path, bytes) => {
        await blobs.remove([path]);
        written.push(path);
        return await blobs.create(path, bytes);
      },
    });
    const { register } = makeRegister(careless, true);
    expect(await codeOf(offer(register))).toBe('HANDOVER_REMOTE_REFUSED');
    expect(written.filter((path) => !path.startsWith('custody-probe/'))).toEqual([]);
    const { register: good, folder } = makeRegister((blobs) => blobs, true);
    await offer(good);
    expect(readdirSync(join(folder, 'custody-probe'))).toEqual([]);
  });

  it('knows its own state again when the answer to its creation was lost and it was asked again', async () => {
    const forgetful = (blobs: BlobStore): BlobStore => ({
      ...blobs,
      create: async (path, bytes) => {
        await blobs.create(path, bytes);
        return await blobs.create(path, bytes);
      },
    });
    const { register } = makeRegister(forgetful);
    const [one, two] = [await take(register, ada), await codeOf(take(register, ben))];
    expect([one.number, two]).toEqual([1, 'HANDOVER_TASK_HELD']);
  });

  it('appends no state that would leave a gap, and none over another', async () => {
    const { register } = makeRegister();
    const first = await offer(register);
    expect(await register.append({ ...first, number: 3 })).toBe(false);
    expect(await register.append(first)).toBe(false);
    expect(await register.read(TASK)).toEqual(first);
    expect(await register.read(OTHER)).toBeNull();
  });

  it('finds the newest of many states', async () => {
    const { register } = makeRegister();
    const first = await offer(register);
    for (let number = 2; number <= 40; number++) {
      expect(await register.append({ ...first, number })).toBe(true);
      expect((await register.listOpen({}, 1))[0]?.number).toBe(number);
    }
    expect((await register.read(TASK))?.number).toBe(40);
  });

  it('takes no name that leads elsewhere', async () => {
    const { register, folder } = makeRegister();
    mkdirSync(join(folder, 'secret'));
    expect(await codeOf(register.read('../secret'))).toBe('HANDOVER_INPUT_INVALID');
  });
});
