import { randomInt } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { openPostgresRemote, type PostgresRemote } from '../../../src/exchange/remote/postgres/remote.ts';
import type { Custody, Register } from '../../../src/exchange/remote/register.ts';
import { makeWriter, PROJECT } from '../../support/postgres-bodies.ts';
import {
  findPoolerTrouble,
  findPostgresTrouble,
  openPooler,
  openPostgresServer,
  type PostgresServer,
} from '../../support/postgres-server.ts';

const trouble = findPostgresTrouble();
const poolerTrouble = findPoolerTrouble();

describe.skipIf(trouble !== null)(`tasks in PostgreSQL${trouble === null ? '' : ` (skipped: ${trouble})`}`, () => {
  let server: PostgresServer;
  const remotes: PostgresRemote[] = [];
  const seed = randomInt(1_000_000);

  beforeAll(async () => {
    server = await openPostgresServer();
    await server.createDatabase('tasks', 'owner', ['alice', 'bob', 'mallory']);
    const [owner] = await openMany(1, 'owner');
    await owner?.remote.listLogs();
    await server.sql(
      `SELECT agent_handover.admit('alice', 'red'), agent_handover.admit('bob', 'red'), agent_handover.admit('mallory', 'blue')`,
      { database: 'tasks', as: 'owner' },
    );
    return async () => {
      for (const remote of remotes) await remote.close();
    };
  });

  type Worker = { remote: PostgresRemote; register: Register; holder: Custody['holder'] };

  async function openMany(count: number, as: string, port = server.port): Promise<Worker[]> {
    const workers: Worker[] = [];
    for (let at = 0; at < count; at++) {
      const remote = await openPostgresRemote(server.url('tasks', { as, query: 'team=red', port }), server.machine);
      const register = remote.openRegister();
      if ('why' in register) throw new Error(register.why);
      remotes.push(remote);
      workers.push({ remote, register, holder: { writer: makeWriter(), name: `${as}-${at}` } });
    }
    return workers;
  }

  async function openOne(as: string): Promise<Worker> {
    const [worker] = await openMany(1, as);
    if (worker === undefined) throw new Error('no worker');
    return worker;
  }

  function makeTask(place: number): string {
    return `20260101-${String(place).padStart(6, '0')}-${randomInt(0x1000, 0xffff).toString(16)}`;
  }

  function offer(place: number, by: Custody['holder'], changes: Partial<Custody> = {}): Custody {
    const at = new Date(Date.UTC(2026, 0, 1) + place * 1000).toISOString();
    const task = makeTask(place);
    return {
      task,
      project: PROJECT,
      number: 1,
      state: 'offered',
      holder: by,
      to: null,
      label: null,
      until: null,
      at,
      offered_at: at,
      ...changes,
    };
  }

  it('a state is written only if its number follows the newest, and is read back as it was', async () => {
    const { register, holder } = await openOne('alice');
    const first = offer(1, holder, { to: "o'hara", label: 'build', project: 'p-5555555555555555' });
    expect(await register.read(first.task)).toBeNull();
    expect(await register.append({ ...first, number: 2 })).toBe(false);
    expect(await register.append(first)).toBe(true);
    expect(await register.append(first)).toBe(false);
    expect(await register.read(first.task)).toEqual(first);
    const until = new Date((await register.now()).now + 60_000).toISOString();
    const held: Custody = { ...first, number: 2, state: 'held', until };
    expect(await register.append(held)).toBe(true);
    expect(await register.append(held)).toBe(false);
    expect(await register.append({ ...held, number: 4 })).toBe(false);
    expect(await register.read(first.task)).toEqual(held);
    const states = await server.sql(
      `SELECT number, state FROM agent_handover.custody_history WHERE task = '${first.task}' ORDER BY number`,
      { database: 'tasks' },
    );
    expect(states).toBe('1|offered\n2|held');
  });

  it('of many who append the same number one succeeds', async () => {
    const workers = await openMany(8, 'alice');
    const task = offer(2, workers[0]?.holder ?? { writer: makeWriter(), name: 'a' }, { project: 'p-5555555555555555' });
    for (let number = 1; number <= 10; number++) {
      const won = await Promise.all(
        workers.map(async ({ register, holder }) => await register.append({ ...task, number, holder })),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
    }
  });

  it('what a role holds is not taken from it by another role before the lease is over', async () => {
    const [alice, bob, mallory] = [await openOne('alice'), await openOne('bob'), await openOne('mallory')];
    const soon = new Date((await alice.register.now()).now + 60_000).toISOString();
    const held = offer(3, alice.holder, { state: 'held', until: soon, project: 'p-5555555555555555' });
    expect(await alice.register.append(held)).toBe(true);
    const robbed: Custody = { ...held, number: 2, holder: bob.holder };
    await expect(bob.register.append(robbed)).rejects.toMatchObject({ code: 'HANDOVER_REMOTE_REFUSED' });
    await expect(mallory.register.append(robbed)).rejects.toMatchObject({ code: 'HANDOVER_REMOTE_REFUSED' });
    expect(await mallory.register.read(held.task)).toBeNull();
    const past = new Date((await alice.register.now()).now - 1).toISOString();
    expect(await alice.register.append({ ...held, number: 2, until: past })).toBe(true);
    expect(await bob.register.append({ ...robbed, number: 3 })).toBe(true);
    const forever = new Date(Date.UTC(2200, 0, 1)).toISOString();
    await expect(bob.register.append({ ...robbed, number: 4, until: forever })).rejects.toMatchObject({
      code: 'HANDOVER_REMOTE_REFUSED',
    });
  });

  it('the oldest that fits is taken: offered to the taker or anybody, released, or with a lease that is over', async () => {
    const { register, holder } = await openOne('alice');
    const project = 'p-6666666666666666';
    const past = new Date(Date.UTC(2026, 0, 1)).toISOString();
    const held = new Date((await register.now()).now + 60_000).toISOString();
    const tasks = {
      toOther: offer(10, holder, { project, to: 'somebody' }),
      held: offer(11, holder, { project, state: 'held', until: held }),
      done: offer(12, holder, { project, state: 'done' }),
      expired: offer(13, holder, { project, state: 'held', until: past }),
      labelled: offer(14, holder, { project, label: 'x' }),
      released: offer(15, holder, { project, state: 'released', to: 'somebody' }),
      toMe: offer(16, holder, { project, to: holder.name }),
    };
    for (const task of Object.values(tasks)) expect(await register.append(task)).toBe(true);
    const open = await register.listOpen({ project, for: holder.name }, 10);
    expect(open).toEqual([tasks.expired, tasks.labelled, tasks.released, tasks.toMe]);
    expect(await register.listOpen({ project }, 2)).toEqual([tasks.toOther, tasks.expired]);
    expect(await register.listOpen({ project, label: 'x' }, 10)).toEqual([tasks.labelled]);
    const take = async (label?: string) =>
      await register.takeNext?.({ project, ...(label === undefined ? {} : { label }) }, { holder, leaseMs: 60_000 });
    expect(await take('x')).toMatchObject({ task: tasks.labelled.task, number: 2, state: 'held', label: 'x', holder });
    const [first, second, third] = [await take(), await take(), await take()];
    expect([first, second, third].map((each) => each?.task)).toEqual([
      tasks.expired.task,
      tasks.released.task,
      tasks.toMe.task,
    ]);
    expect(await take()).toBeNull();
    const lease = Date.parse(first?.until ?? '') - Date.parse(first?.at ?? '');
    expect(lease).toBe(60_000);
    expect(await register.read(tasks.expired.task)).toEqual(first);
  });

  async function takeAll(workers: readonly Worker[], project: string, count: number): Promise<void> {
    const places = Array.from({ length: count }, (_, place) => place);
    const offers = places.map((place) =>
      offer(1000 + place, { writer: makeWriter(), name: 'boss' }, { project, label: `l${(place * seed) % 3}` }),
    );
    const [first] = workers;
    for (const each of offers) expect(await first?.register.append(each)).toBe(true);
    const taken = await Promise.all(
      workers.map(async ({ register, holder }) => {
        const own: string[] = [];
        for (;;) {
          const custody = await register.takeNext?.({ project }, { holder, leaseMs: 60_000 });
          if (custody == null) return own;
          expect(custody).toMatchObject({ holder, number: 2, state: 'held' });
          own.push(custody.task);
        }
      }),
    );
    expect(taken.flat().length).toBe(count);
    expect(new Set(taken.flat()).size).toBe(count);
    // Each worker met them from the oldest to the newest.
    for (const own of taken) expect(own).toEqual([...own].sort());
  }

  it('thirty-two who take at once never get the same task twice, and miss none', async () => {
    await takeAll(await openMany(32, 'alice'), 'p-7777777777777777', 300);
  });

  it('a task is found among thousands of others by an index, whatever it is asked by', async () => {
    await server.sql(
      `INSERT INTO agent_handover.custody (team, task, project, number, state, holder_writer, holder_name, label, at, offered_at)
         SELECT 'big', 'task-' || n, CASE WHEN n > 4990 THEN 'p-2' ELSE 'p-1' END, 1, 'offered', repeat('a', 32), 'boss',
           CASE WHEN n > 4990 THEN 'rare' ELSE 'common' END, now(), now() + n * interval '1 second'
         FROM generate_series(1, 5000) n;
       SELECT agent_handover.admit('alice', 'big'), agent_handover.admit('bob', 'big', 'p-2')`,
      { database: 'tasks', as: 'owner' },
    );
    await server.sql('ANALYZE agent_handover.custody', { database: 'tasks' });
    const countRead = async (): Promise<number> =>
      Number(
        await server.sql(
          `SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE schemaname = 'agent_handover' AND relname = 'custody'`,
          { database: 'tasks' },
        ),
      );
    for (const [as, project, label] of [
      ['alice', 'NULL', "'rare'"],
      ['alice', "'p-2'", 'NULL'],
      ['bob', 'NULL', 'NULL'],
    ] as const) {
      const before = await countRead();
      const take = `SELECT task FROM agent_handover.take_next('big', ${project}, ${label}, repeat('b', 32), 'me', interval '1 hour')`;
      expect(Number((await server.sql(take, { database: 'tasks', as })).replace('task-', ''))).toBeGreaterThan(4990);
      expect([as, project, label, (await countRead()) - before < 100]).toEqual([as, project, label, true]);
    }
  });

  it.skipIf(poolerTrouble !== null)(
    `the same through a pooler that gives every transaction another connection${poolerTrouble === null ? '' : ` (skipped: ${poolerTrouble})`}`,
    async () => {
      const port = await openPooler(server, ['alice', 'bob']);
      const workers = await openMany(32, 'alice', port);
      await takeAll(workers, 'p-8888888888888888', 200);
      const [worker] = workers;
      const log = { writer: makeWriter(), project: PROJECT };
      for (let number = 1; number <= 20; number++)
        expect(await worker?.remote.appendPage(log, { number, bytes: Buffer.from(`page ${number}`) })).toBe(true);
      expect((await worker?.remote.readPages(log, { after: 0, limit: 50 }))?.length).toBe(20);
    },
  );
});
