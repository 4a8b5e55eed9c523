import { beforeAll, describe, expect, it } from 'vitest';
import { openPostgresRemote, type PostgresRemote } from '../../../src/exchange/remote/postgres/remote.ts';
import type { Register } from '../../../src/exchange/remote/register.ts';
import { makeRealTime, tryFleet } from '../../support/fleet.ts';
import { findPostgresTrouble, openPostgresServer, type PostgresServer } from '../../support/postgres-server.ts';

const trouble = findPostgresTrouble();
const WORKERS = 64;
/** A lease of ten minutes ends after two seconds of the server's clock. */
const SPEED = 300;

describe.skipIf(trouble !== null)(`a fleet on PostgreSQL${trouble === null ? '' : ` (skipped: ${trouble})`}`, () => {
  let server: PostgresServer;
  const remotes: PostgresRemote[] = [];

  beforeAll(async () => {
    server = await openPostgresServer();
    await server.createDatabase('tasks', 'owner', ['worker']);
    await (await open('owner')).listLogs();
    await server.sql(`SELECT agent_handover.admit('worker', 'red')`, { database: 'tasks', as: 'owner' });
    return async () => {
      for (const remote of remotes) await remote.close();
    };
  });

  async function open(as: string): Promise<PostgresRemote> {
    const remote = await openPostgresRemote(server.url('tasks', { as, query: 'team=red' }), server.machine);
    remotes.push(remote);
    return remote;
  }

  it('does each of 2,000 tasks once, by one holder at a time, with 64 workers of which one in ten is killed', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    process.stdout.write(`fleet on PostgreSQL: seed ${seed}\n`);
    const registers: Register[] = [];
    for (let worker = 0; worker <= WORKERS; worker++) {
      const register = (await open('worker')).openRegister();
      if ('why' in register) throw new Error(register.why);
      registers.push(register);
    }
    const find = (worker: string): Register => {
      const [, index = String(WORKERS)] = /^worker-(\d+)\./.exec(worker) ?? [];
      const register = registers[Number(index)];
      if (register === undefined) throw new Error(worker);
      return register;
    };
    const { result, wrong } = await tryFleet({ workers: WORKERS, tasks: 2000, seed }, find, makeRealTime(SPEED));
    const { calls, killed, late } = result;
    process.stdout.write(
      `fleet on PostgreSQL: ${calls.length} calls, ${killed} killed, ${late.tried} late writes refused\n`,
    );
    expect(wrong).toEqual([]);
    expect(killed).toBeGreaterThan(100);
    expect(late.tried).toBeGreaterThan(100);
  }, 1_200_000);
});
