import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { offerTask, readCustody, releaseTask, takeNext, takeTask } from '../../../src/exchange/remote/custody.ts';
import { nameBody, PAGE_LIMITS } from '../../../src/exchange/remote/page.ts';
import type { Register } from '../../../src/exchange/remote/register.ts';
import type { OutgoingBody, Remote } from '../../../src/exchange/remote/remote.ts';
import { sha256Hex } from '../../../src/model/hash.ts';

const PROJECT = 'p-0123456789abcdef';
const OTHER = 'p-fedcba9876543210';
const WRITER = '0123456789abcdef0123456789abcdef';

function makeBody(size = 300): OutgoingBody {
  const id = `20260131-1200${10 + Math.floor(Math.random() * 50)}-${randomBytes(2).toString('hex')}`;
  const bytes = randomBytes(size);
  return { name: nameBody(id, bytes), project: PROJECT, bytes, handover: null };
}

async function read(remote: Remote, bodies: readonly OutgoingBody[], project = PROJECT): Promise<Map<string, Buffer>> {
  const names = bodies.map(({ name }) => name);
  const found = new Map<string, Buffer>();
  for await (const { name, bytes } of remote.readBodies(project, names)) found.set(name, bytes);
  return found;
}

function openRegister(remote: Remote): Register {
  const register = remote.openRegister();
  if ('why' in register) throw new Error(register.why);
  return register;
}

function nameHolder(at: number): { writer: string; name: string } {
  return { writer: String(at).repeat(32), name: `worker-${at}` };
}

/**
 * What holds for every remote. `open` gives another view of the same place each time, as another machine has one; pages and bodies
 * are bytes to it.
 */
export function testRemote(kind: string, prepare: () => Promise<() => Promise<Remote>>, timeout = 120_000): void {
  describe(`a remote: ${kind}`, { timeout }, () => {
    const log = { writer: WRITER, project: PROJECT };

    test('is empty at first, and shows what was appended to everybody', async () => {
      const open = await prepare();
      const [here, there] = [await open(), await open()];
      expect(await here.listLogs()).toEqual([]);
      expect(await here.readPages(log, { after: 0, limit: 10 })).toEqual([]);
      const pages = Array.from({ length: 5 }, (_, at) => ({ number: at + 1, bytes: Buffer.from(`page ${at + 1}\n`) }));
      for (const page of pages) expect(await here.appendPage(log, page)).toBe(true);
      await here.appendPage({ ...log, project: OTHER }, { number: 1, bytes: Buffer.from('other\n') });
      const heads = (await there.listLogs()).sort((a, b) => (a.project < b.project ? -1 : 1));
      expect(heads).toMatchObject([
        { ...log, newest: 5 },
        { ...log, project: OTHER, newest: 1 },
      ]);
      const last = sha256Hex(pages[4]?.bytes ?? '');
      expect([undefined, last]).toContain(heads[0]?.digest);
      expect(await there.readPages(log, { after: 0, limit: 3 })).toEqual(pages.slice(0, 3));
      expect(await there.readPages(log, { after: 3, limit: 100 })).toEqual(pages.slice(3));
      await Promise.all([here.close(), there.close()]);
    });

    test('of many who append the same page exactly one succeeds, and its bytes stay', async () => {
      const open = await prepare();
      const remotes = await Promise.all([open(), open(), open(), open()]);
      const results = await Promise.all(
        remotes.map(
          async (remote, at) => await remote.appendPage(log, { number: 1, bytes: Buffer.from(`by ${at}\n`) }),
        ),
      );
      expect(results.filter(Boolean)).toHaveLength(1);
      const [page] = (await remotes[0]?.readPages(log, { after: 0, limit: 2 })) ?? [];
      const heads = await remotes[1]?.listLogs();
      expect(page?.bytes.toString()).toBe(`by ${results.indexOf(true)}\n`);
      expect(heads).toMatchObject([{ ...log, newest: 1 }]);
      expect(await remotes[2]?.appendPage(log, { number: 1, bytes: Buffer.from('late\n') })).toBe(false);
      await Promise.all(remotes.map(async (remote) => await remote.close()));
    });

    test('keeps bodies to the byte, in their project, and deletes only those that are named', async () => {
      const open = await prepare();
      const [here, there] = [await open(), await open()];
      const bodies = [makeBody(), makeBody(200_000), makeBody(1)];
      await here.writeBodies(bodies);
      await here.writeBodies(bodies);
      await there.listLogs();
      const missing = makeBody();
      expect(await read(there, [...bodies, missing])).toEqual(new Map(bodies.map(({ name, bytes }) => [name, bytes])));
      expect((await read(there, bodies, OTHER)).size).toBe(0);
      const [first, ...others] = bodies;
      if (first === undefined) throw new Error('bodies');
      await there.deleteBodies(PROJECT, [first.name, missing.name]);
      await here.listLogs();
      expect([...(await read(here, bodies)).keys()].sort()).toEqual(others.map(({ name }) => name).sort());
      await Promise.all([here.close(), there.close()]);
    });

    test('gives a task to one of many who take it at once, and another to each who takes the next', async () => {
      const open = await prepare();
      const remotes = await Promise.all([open(), open(), open(), open()]);
      const registers = remotes.map(openRegister);
      const [boss] = registers;
      if (boss === undefined) throw new Error('registers');
      const tasks = ['k3fz', 'k3ga', 'k3gb', 'k3gc', 'k3gd'].map((end) => `20260131-120000-${end}`);
      const [first = '', ...others] = tasks;
      for (const task of tasks)
        await offerTask(boss, { task, project: PROJECT, by: nameHolder(0), to: null, label: null });
      const taken = await Promise.allSettled(
        registers.map(
          async (register, at) =>
            await takeTask(register, { task: first, project: PROJECT, by: nameHolder(at), leaseMs: 600_000 }),
        ),
      );
      expect(taken.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
      const next = await Promise.all(
        registers.map(
          async (register, at) =>
            await takeNext(register, { project: PROJECT }, { by: nameHolder(at), leaseMs: 600_000 }),
        ),
      );
      expect(next.map((custody) => custody?.task).sort()).toEqual(others);
      expect(await takeNext(boss, {}, { by: nameHolder(0), leaseMs: 600_000 })).toBeNull();
      const [one] = next;
      if (one == null) throw new Error('next');
      expect(await releaseTask(boss, { ...one, number: one.number - 1 }, 'done')).toMatchObject({ isLate: true });
      expect(await releaseTask(boss, one, 'done')).toMatchObject({ isLate: false });
      expect((await readCustody(registers[2] ?? boss, one.task))?.state).toBe('done');
      await Promise.all(remotes.map(async (remote) => await remote.close()));
    });

    test('says that it is in order', async () => {
      const remote = await (await prepare())();
      const checks = await remote.check();
      expect(checks.length).toBeGreaterThan(0);
      expect(checks.filter(({ isGood }) => !isGood)).toEqual([]);
      await remote.close();
    });

    test('takes a page of the largest size', async () => {
      const remote = await (await prepare())();
      const bytes = randomBytes(PAGE_LIMITS.bytes);
      expect(await remote.appendPage(log, { number: 1, bytes })).toBe(true);
      const [page] = await remote.readPages(log, { after: 0, limit: 1 });
      expect(page?.bytes.equals(bytes)).toBe(true);
      await remote.close();
    });
  });
}
