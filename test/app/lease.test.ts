import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Context } from '../../src/app/context.ts';
import { takeNamed } from '../../src/app/custody.ts';
import { endLease, keepLease } from '../../src/app/lease.ts';
import { syncRemote } from '../../src/app/sync.ts';
import { takeTask } from '../../src/exchange/remote/custody.ts';
import { openFolderBlobs } from '../../src/exchange/remote/folder-blobs.ts';
import { openObjectRegister } from '../../src/exchange/remote/object-register.ts';
import { systemClock } from '../../src/platform/machine.ts';
import { addRemote, requireRemote } from '../../src/platform/remote-settings.ts';
import { readHeldTask, readLate, TASK_VARIABLE } from '../../src/store/held-tasks.ts';
import { type Member, makeMember } from '../support/syncing.ts';
import { saveOne } from '../support/temp-store.ts';

/** Somebody who holds a task for three seconds, and the folder that it is offered in. */
async function makeHolder() {
  const member = await makeMember('ada', 1, { clock: systemClock });
  const shared = join(member.folder, 'shared');
  mkdirSync(shared);
  const { machine } = member.store;
  addRemote(machine, { name: 'team', url: shared, projects: [], agents: [], recipients: [] });
  const context: Context = { machine, notify: () => undefined, progress: () => undefined };
  const { id: task } = saveOne(member.store, 'Retries');
  await syncRemote(context, requireRemote(machine, 'team'));
  const { held } = await takeNamed(context, { words: task, filter: {}, leaseMs: 3000, renews: true });
  return { member, context, shared, task, held };
}

function openRegister({ store: { machine } }: Member, shared: string, aheadMs = 0) {
  const ahead = { ...machine, clock: { now: () => Date.now() + aheadMs } };
  return openObjectRegister(openFolderBlobs(shared, ahead), { machine: ahead, triesCreation: false });
}

async function waitUntil(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(50);
}

describe('the lease of a task', () => {
  it('is renewed while its agent works, and given back afterwards', async () => {
    const { member, context, shared, task, held } = await makeHolder();
    const register = openRegister(member, shared);
    const lease = keepLease(context, held, () => undefined);
    await waitUntil(async () => ((await register.read(task))?.number ?? 0) >= held.fence + 2);
    await lease.stop();
    const known = readHeldTask(member.store, task);
    expect(known).toMatchObject({ fence: held.fence, state: 'held' });
    expect(await register.read(task)).toEqual(known?.custody);
    expect(Date.parse(known?.custody.until ?? '')).toBeGreaterThan(Date.parse(held.custody.until ?? ''));
    expect(await endLease(context, task, 'released')).toEqual({ outcome: 'released' });
    expect(await endLease(context, task, 'released')).toEqual({ outcome: 'ended' });
  });

  it('is known to be lost once another took the task, and what its agent saves then is marked, even after its end', async () => {
    const { member, context, shared, task, held } = await makeHolder();
    const { store } = member;
    const lease = keepLease(context, held, () => undefined);
    const register = openRegister(member, shared, 7_200_000);
    const by = { writer: 'b'.repeat(32), name: 'ben' };
    const { project } = held.custody;
    await takeTask(register, { task, project: String(project), by, leaseMs: 600_000 });
    await waitUntil(() => readHeldTask(store, task)?.state === 'late');
    await lease.stop();
    const during = saveOne(store, 'During');
    expect(await endLease(context, task, 'done')).toMatchObject({ outcome: 'late', newest: { holder: by } });
    const env = { ...store.machine.env, [TASK_VARIABLE]: `${task}:${held.fence}` };
    const byAgent = saveOne({ ...store, machine: { ...store.machine, env } }, 'By its agent');
    const others = saveOne(store, 'Something else');
    expect([...readLate(store)]).toEqual([
      [during.id, 'ben'],
      [byAgent.id, 'ben'],
    ]);
    expect(others.id).not.toBe(byAgent.id);
  });

  it('is asked for again where the remote was away, and it is said that renewing fails', async () => {
    const { member, context, shared, task, held } = await makeHolder();
    const told: boolean[] = [];
    const lease = keepLease(context, held, (failure) => told.push(failure !== null));
    renameSync(shared, `${shared}-away`);
    await delay(1500);
    renameSync(`${shared}-away`, shared);
    const register = openRegister(member, shared);
    await waitUntil(async () => ((await register.read(task))?.number ?? 0) > held.fence);
    await lease.stop();
    expect(told).toEqual([true, false]);
  });
});
