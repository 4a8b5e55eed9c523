import { describe, expect, it } from 'vitest';
import { openPostgresRemote } from '../../../src/exchange/remote/postgres/remote.ts';
import type { Remote } from '../../../src/exchange/remote/remote.ts';
import { Convergence, chooseSeed, type SharedPlace } from '../../support/convergence.ts';
import { findPostgresTrouble, openPostgresServer, type PostgresServer } from '../../support/postgres-server.ts';

const trouble = findPostgresTrouble();
const TABLES = ['pages', 'logs', 'bodies'];
const ROUNDS = 1000;

/** Every call can be cut before it reaches the server, or before its answer arrives. */
function cutRemote(remote: Remote, tick: (moment: 'before' | 'after') => void): Remote {
  const cut =
    <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      tick('before');
      const answer = await call(...args);
      tick('after');
      return answer;
    };
  return {
    ...remote,
    listLogs: cut(remote.listLogs),
    readPages: cut(remote.readPages),
    appendPage: cut(remote.appendPage),
    writeBodies: cut(remote.writeBodies),
    deleteBodies: cut(remote.deleteBodies),
    readBodies: async function* (project, names) {
      for await (const body of remote.readBodies(project, names)) {
        tick('before');
        yield body;
      }
    },
  };
}

function makePlace(server: PostgresServer): SharedPlace {
  let opened = 0;
  const sql = async (statements: string): Promise<string> =>
    await server.sql(statements, { database: 'meeting', as: 'owner' });
  const columns = async (table: string): Promise<string> =>
    await sql(`SELECT string_agg(column_name, ', ') FROM information_schema.columns
      WHERE table_schema = 'agent_handover' AND table_name = '${table}' AND is_generated = 'NEVER'`);
  return {
    open: async (tick) => {
      // The primary goes away and comes back.
      if (++opened % 60 === 0) {
        await server.stop('immediate');
        await server.start();
      }
      return cutRemote(await openPostgresRemote(server.url('meeting', { as: 'owner' }), server.machine), tick);
    },
    copy: async () => {
      await sql('DROP SCHEMA IF EXISTS backup CASCADE; CREATE SCHEMA backup');
      for (const table of TABLES)
        await sql(`CREATE TABLE backup.${table} AS SELECT ${await columns(table)} FROM agent_handover.${table}`);
    },
    restore: async () => {
      const names = await Promise.all(TABLES.map(columns));
      const fill = TABLES.map(
        (table, at) => `INSERT INTO agent_handover.${table} (${names[at]}) SELECT ${names[at]} FROM backup.${table}`,
      );
      await sql(`BEGIN; ALTER TABLE agent_handover.pages DISABLE TRIGGER note_page;
        TRUNCATE ${TABLES.map((table) => `agent_handover.${table}`).join(', ')}; ${fill.join('; ')};
        ALTER TABLE agent_handover.pages ENABLE TRIGGER note_page; COMMIT`);
    },
  };
}

describe.skipIf(trouble !== null)(
  `stores that meet in PostgreSQL${trouble === null ? '' : ` (skipped: ${trouble})`}`,
  () => {
    it('end up equal over cuts, kills, restarts of the server and old backups, with nothing lost and nothing resurrected', {
      timeout: 1_800_000,
    }, async () => {
      const server = await openPostgresServer();
      await server.createDatabase('meeting', 'owner');
      const remote = await openPostgresRemote(server.url('meeting', { as: 'owner' }), server.machine);
      await remote.listLogs();
      await remote.close();
      const { counts: _, ...outcome } = await new Convergence(chooseSeed(), makePlace(server)).run(ROUNDS);
      expect(outcome).toEqual({ differences: [], lost: [], resurrected: [] });
    });
  },
);
