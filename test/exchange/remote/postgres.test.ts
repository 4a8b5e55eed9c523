import { randomBytes, randomInt } from 'node:crypto';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openRemote } from '../../../src/exchange/remote/open-remote.ts';
import { openPostgresRemote, type PostgresRemote } from '../../../src/exchange/remote/postgres/remote.ts';
import type { StoredPage } from '../../../src/exchange/remote/remote.ts';
import { sha256Hex } from '../../../src/model/hash.ts';
import { testRemote } from '../../support/conformance/remote.ts';
import { makeBody, makeHandover, makeWriter, PROJECT } from '../../support/postgres-bodies.ts';
import { findPostgresTrouble, openPostgresServer, type PostgresServer } from '../../support/postgres-server.ts';

const trouble = findPostgresTrouble();

if (trouble === null) {
  let server: Promise<PostgresServer> | undefined;
  let databases = 0;
  testRemote('PostgreSQL', async () => {
    server ??= openPostgresServer();
    const { createDatabase, url, machine } = await server;
    const name = `conforms${++databases}`;
    await createDatabase(name, 'owner');
    return async () => await openRemote({ name: 'team', url: url(name, { as: 'owner' }).href }, machine);
  });
}

describe.skipIf(trouble !== null)(`PostgreSQL as a remote${trouble === null ? '' : ` (skipped: ${trouble})`}`, () => {
  let server: PostgresServer;
  const OTHER = 'p-1111111111111111';

  beforeAll(async () => {
    server = await openPostgresServer();
    await server.createDatabase('shared', 'owner', ['alice', 'bob', 'carol', 'mallory']);
    const owner = await open('shared', 'owner', 'red');
    await owner.listLogs();
    await server.sql(
      `SELECT agent_handover.admit('alice', 'red'); SELECT agent_handover.admit('bob', 'red');
       SELECT agent_handover.admit('carol', 'red', '${OTHER}'); SELECT agent_handover.admit('mallory', 'blue')`,
      { database: 'shared', as: 'owner' },
    );
  });

  async function open(database: string, as: string, team = 'red', more = ''): Promise<PostgresRemote> {
    const remote = await openPostgresRemote(server.url(database, { as, query: `team=${team}${more}` }), server.machine);
    return remote;
  }

  async function openForTest(as: string, team = 'red', more = ''): Promise<PostgresRemote> {
    const remote = await open('shared', as, team, more);
    onTestFinished(async () => await remote.close());
    return remote;
  }

  /** Comparing large buffers byte by byte takes minutes. */
  function digests(pages: readonly StoredPage[]): string[] {
    return pages.map(({ number, bytes }) => `${number} ${sha256Hex(bytes)}`);
  }

  async function readAll(
    remote: PostgresRemote,
    names: readonly string[],
    project = PROJECT,
  ): Promise<Map<string, Buffer>> {
    const found = new Map<string, Buffer>();
    for await (const { name, bytes } of remote.readBodies(project, names)) found.set(name, bytes);
    return found;
  }

  it('gives back the pages of a log in order, and never replaces one', async () => {
    const remote = await openForTest('alice');
    const log = { writer: makeWriter(), project: PROJECT };
    const pages = Array.from({ length: 30 }, (_, at) => ({
      number: at + 1,
      bytes: randomBytes(randomInt(1, 400_000)),
    }));
    for (const page of pages) expect(await remote.appendPage(log, page)).toBe(true);
    expect(await remote.appendPage(log, { number: 7, bytes: Buffer.from('other') })).toBe(false);
    expect(digests(await remote.readPages(log, { after: 0, limit: 100 }))).toEqual(digests(pages));
    expect(digests(await remote.readPages(log, { after: 12, limit: 5 }))).toEqual(digests(pages.slice(12, 17)));
    expect(await remote.readPages(log, { after: 30, limit: 5 })).toEqual([]);
    expect(await remote.listLogs()).toContainEqual({ ...log, newest: 30, digest: sha256Hex(pages[29]?.bytes ?? '') });
  });

  it('gives back bodies as they are, and leaves one that is there alone', async () => {
    const remote = await openForTest('alice');
    const bodies = Array.from({ length: 250 }, (_, at) =>
      makeBody(
        makeHandover(`number ${at}`),
        at % 2 === 0 ? {} : { bytes: randomBytes(randomInt(1, 200_000)), handover: null },
      ),
    );
    await remote.writeBodies(bodies);
    await remote.writeBodies(bodies.slice(0, 10));
    const names = bodies.map(({ name }) => name);
    const found = await readAll(remote, [...names, `20260101-000000-zzzz-${'0'.repeat(32)}`]);
    expect(found.size).toBe(bodies.length);
    expect(bodies.filter(({ name, bytes }) => found.get(name)?.equals(bytes) !== true)).toEqual([]);
  });

  it('deletes a body without a trace, and takes it again where its writer sends it again', async () => {
    const remote = await openForTest('alice');
    const body = makeBody(makeHandover('to be forgotten unmistakably'));
    await remote.writeBodies([body]);
    await remote.deleteBodies(PROJECT, [body.name, 'never there']);
    await remote.deleteBodies(PROJECT, [body.name]);
    expect((await readAll(remote, [body.name])).size).toBe(0);
    expect(await remote.catalog.search({ text: 'unmistakably', limit: 5 })).toEqual([]);
    const left = await server.sql(`SELECT * FROM agent_handover.bodies WHERE name = '${body.name}'`, {
      database: 'shared',
    });
    expect(left).toBe('');
    await remote.writeBodies([body]);
    expect((await readAll(remote, [body.name])).size).toBe(1);
  });

  it('takes a body of the largest size', async () => {
    const remote = await openForTest('alice');
    const body = makeBody(makeHandover('large'), { bytes: randomBytes(16 * 1024 * 1024 + 70_000), handover: null });
    await remote.writeBodies([body]);
    expect((await readAll(remote, [body.name])).get(body.name)?.equals(body.bytes)).toBe(true);
  });

  it('refuses a body whose name is not that of its bytes', async () => {
    const remote = await openForTest('alice');
    const body = { ...makeBody(makeHandover('false')), bytes: Buffer.from('something else') };
    await expect(remote.writeBodies([body])).rejects.toMatchObject({
      code: 'HANDOVER_REMOTE_REFUSED',
      data: { sqlstate: '23514' },
    });
  });

  it('keeps SQL in every field as text', async () => {
    const remote = await openForTest('alice');
    const evil = `'); DROP TABLE agent_handover.pages; -- $1 \\' "\u0000 $$ {s} :* & | ! <-> 'a':1A`;
    const body = makeBody(makeHandover(evil, [evil, `${evil} second`]));
    await remote.writeBodies([body]);
    expect((await readAll(remote, [body.name])).size).toBe(1);
    const [hit] = await remote.catalog.search({ text: `${evil} drop table agent_handover`, limit: 3 });
    expect(hit?.name).toBe(body.name);
    for (const text of [evil, "'", '\\', "a' & 'b", ':*', '!', '('])
      await remote.catalog.search({ text, limit: 3, agent: evil });
    expect(await remote.catalog.list({ agent: evil, limit: 3 })).toEqual([]);
    expect(await remote.catalog.find(evil.replaceAll('\u0000', ''))).toEqual([]);
    await expect(
      remote.readPages(
        { writer: evil.replaceAll('\u0000', ''), project: evil.replaceAll('\u0000', '') },
        { after: 0, limit: 5 },
      ),
    ).resolves.toEqual([]);
    expect(await server.sql('SELECT count(*) > 0 FROM agent_handover.pages', { database: 'shared' })).toBe('t');
  });

  it('finds by words in any inflection, those with all words first, and lists the newest work first', async () => {
    const remote = await openForTest('alice', 'red', '&schema=agent_handover');
    const texts = ['zebras are counted in the zanzibar office', 'a zebra without an office', 'nothing of the kind'];
    const bodies = texts.map((text, at) =>
      makeBody(makeHandover(`animal ${at}`, [text], Date.UTC(2030, 0, at + 1)), { project: 'p-3333333333333333' }),
    );
    await remote.writeBodies(bodies);
    const hits = await remote.catalog.search({ text: 'counting zebra zanzibar', limit: 10 });
    expect(hits.map(({ name }) => name)).toEqual([bodies[0]?.name]);
    const both = await remote.catalog.search({ text: 'zebras offices', limit: 10 });
    expect(both.map(({ text }) => text).sort()).toEqual([texts[1], texts[0]]);
    expect(hits[0]).toMatchObject({ text: texts[0], fact: { kind: 'decision' }, project: 'p-3333333333333333' });
    expect((await remote.catalog.search({ text: 'zanzi', limit: 10 })).map(({ name }) => name)).toEqual([
      bodies[0]?.name,
    ]);
    expect(await remote.catalog.search({ text: 'zebra', project: OTHER, limit: 10 })).toEqual([]);
    const listed = await remote.catalog.list({ project: 'p-3333333333333333', limit: 2 });
    expect(listed.map(({ title }) => title)).toEqual(['animal 2', 'animal 1']);
    const [first] = await remote.catalog.find(bodies[0]?.name.slice(0, 20) ?? '');
    expect(first?.name).toBe(bodies[0]?.name);
  });

  it('says nothing of an encrypted body but id, time and size', async () => {
    const remote = await openForTest('alice');
    const body = makeBody(makeHandover('a secret title'), {
      bytes: randomBytes(100),
      handover: null,
      project: 'p-4444444444444444',
    });
    await remote.writeBodies([body]);
    expect(await remote.catalog.list({ project: 'p-4444444444444444', limit: 2 })).toMatchObject([
      { title: null, agent: null, bytes: 100, workedAt: '2026-05-01T00:00:00.000Z' },
    ]);
    expect(
      await server.sql(`SELECT title, agent, lines, words FROM agent_handover.bodies WHERE name = '${body.name}'`, {
        database: 'shared',
      }),
    ).toBe('|||');
  });

  describe('rights', () => {
    const denied = { code: 'HANDOVER_REMOTE_REFUSED', data: { sqlstate: '42501' } };

    it('a role of another team sees and writes nothing', async () => {
      const [alice, mallory] = [await openForTest('alice'), await openForTest('mallory')];
      const log = { writer: makeWriter(), project: PROJECT };
      const body = makeBody(makeHandover('for reds alone', ['xylophone']));
      await alice.appendPage(log, { number: 1, bytes: Buffer.from('x') });
      await alice.writeBodies([body]);
      const [tables, find] = [
        ['pages', 'logs', 'bodies', 'custody', 'custody_history'],
        "find_newest('red', NULL, NULL, NULL, 'xylophon', 9)",
      ];
      for (const rows of [...tables, find])
        expect(
          await server.sql(`SELECT count(*) FROM agent_handover.${rows}`, { database: 'shared', as: 'mallory' }),
        ).toBe('0');
      expect(await server.sql(`SELECT count(*) FROM agent_handover.${find}`, { database: 'shared', as: 'alice' })).toBe(
        '1',
      );
      // To somebody who is not of the team, nothing must not look like a team that has nothing.
      const notMember = { code: 'HANDOVER_REMOTE_REFUSED', message: 'this role is not a member of the team red' };
      await expect(mallory.listLogs()).rejects.toMatchObject(notMember);
      await expect(mallory.catalog.list({ limit: 100 })).rejects.toMatchObject(notMember);
      await expect(mallory.catalog.search({ text: 'xylophone', limit: 5 })).rejects.toMatchObject(notMember);
      expect(await mallory.readPages(log, { after: 0, limit: 5 })).toEqual([]);
      expect((await readAll(mallory, [body.name])).size).toBe(0);
      expect(await alice.catalog.search({ text: 'xylophone', limit: 5 })).toHaveLength(1);
      await expect(mallory.appendPage(log, { number: 2, bytes: Buffer.from('x') })).rejects.toMatchObject(denied);
      await expect(mallory.writeBodies([makeBody(makeHandover('theirs'))])).rejects.toMatchObject(denied);
      await expect(mallory.deleteBodies(PROJECT, [body.name])).rejects.toMatchObject(denied);
      expect((await mallory.check()).find(({ name }) => name === 'team')).toMatchObject({ isGood: false });
      expect((await alice.check()).every(({ isGood }) => isGood)).toBe(true);
    });

    it('a role of one project sees and writes that one', async () => {
      const [alice, carol] = [await openForTest('alice'), await openForTest('carol')];
      const bodies = [
        makeBody(makeHandover('a', ['quagmire'])),
        makeBody(makeHandover('b', ['quagmire']), { project: OTHER }),
      ];
      await alice.writeBodies(bodies);
      expect((await carol.catalog.search({ text: 'quagmire', limit: 5 })).map(({ project }) => project)).toEqual([
        OTHER,
      ]);
      expect((await carol.catalog.list({ limit: 1000 })).every(({ project }) => project === OTHER)).toBe(true);
      await carol.appendPage({ writer: makeWriter(), project: OTHER }, { number: 1, bytes: Buffer.from('x') });
      await expect(
        carol.appendPage({ writer: makeWriter(), project: PROJECT }, { number: 1, bytes: Buffer.from('x') }),
      ).rejects.toMatchObject(denied);
    });

    it('another member neither continues a log nor deletes a body that is not theirs', async () => {
      const [alice, bob] = [await openForTest('alice'), await openForTest('bob')];
      const log = { writer: makeWriter(), project: PROJECT };
      const body = makeBody(makeHandover('of alice'));
      await alice.appendPage(log, { number: 1, bytes: Buffer.from('x') });
      await alice.writeBodies([body]);
      await expect(bob.appendPage(log, { number: 2, bytes: Buffer.from('forged') })).rejects.toMatchObject(denied);
      await bob.deleteBodies(PROJECT, [body.name]);
      expect((await readAll(bob, [body.name])).size).toBe(1);
      expect(await alice.appendPage(log, { number: 2, bytes: Buffer.from('y') })).toBe(true);
    });

    it.each([
      "UPDATE agent_handover.pages SET bytes = 'x'",
      'DELETE FROM agent_handover.pages',
      'TRUNCATE agent_handover.pages',
      "UPDATE agent_handover.bodies SET bytes = 'x'",
      'DELETE FROM agent_handover.bodies',
      'UPDATE agent_handover.logs SET newest = 1',
      'UPDATE agent_handover.custody SET number = 1',
      'DELETE FROM agent_handover.custody_history',
      'SELECT * FROM agent_handover.members',
      "INSERT INTO agent_handover.members VALUES ('mallory', 'red', '*')",
      "SELECT agent_handover.admit('mallory', 'red')",
      'UPDATE agent_handover.schema_version SET version = 99',
      'CREATE TABLE agent_handover.more (a int)',
      "INSERT INTO agent_handover.pages (team, project, writer, number, bytes, at) VALUES ('red', 'p', repeat('a', 32), 1, 'x', now())",
      "INSERT INTO agent_handover.bodies (team, project, name, handover, worked_at, bytes, role) VALUES ('red', 'p', 'n', 'h', now(), 'x', 'bob')",
      "INSERT INTO agent_handover.bodies (team, project, name, handover, worked_at) VALUES ('red', 'p', '20260101-000000-0000-' || repeat('0', 32), '20260101-000000-0000', now())",
    ])('a member cannot: %s', async (statement) => {
      await expect(server.sql(statement, { database: 'shared', as: 'alice' })).rejects.toThrow(
        /permission denied|row-level security/,
      );
    });

    it('a role that was dismissed sees nothing any more, and one that was never let in is told what to do', async () => {
      await server.sql('CREATE ROLE dave LOGIN PASSWORD NULL').catch(() => null);
      await server.createDatabase('unused', 'erin', []);
      await server.sql(`SELECT agent_handover.admit('erin', 'red')`, { database: 'shared', as: 'owner' });
      const erin = await openForTest('erin');
      expect((await erin.listLogs()).length).toBeGreaterThan(0);
      await server.sql(`SELECT agent_handover.dismiss('erin', 'red')`, { database: 'shared', as: 'owner' });
      await expect(erin.listLogs()).rejects.toMatchObject({ message: 'this role is not a member of the team red' });
      expect(await server.sql('SELECT count(*) FROM agent_handover.pages', { database: 'shared', as: 'erin' })).toBe(
        '0',
      );
      await server.createDatabase('unused2', 'frank', []);
      const frank = await openForTest('frank');
      await expect(frank.listLogs()).rejects.toMatchObject({
        code: 'HANDOVER_REMOTE_REFUSED',
        hint: expect.stringContaining('admit'),
      });
      expect(await frank.check()).toMatchObject([{ name: 'server', isGood: false }]);
    });
  });

  describe('migrations', () => {
    it('are safe with sixteen first users at once', async () => {
      await server.createDatabase('fresh', 'owner');
      const remotes = await Promise.all(
        Array.from({ length: 16 }, async () => await open('fresh', 'owner', 'red', '&schema=mine')),
      );
      const log = { writer: makeWriter(), project: PROJECT };
      const won = await Promise.all(
        remotes.map(async (remote, at) => await remote.appendPage(log, { number: 1, bytes: Buffer.from([at]) })),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await server.sql('SELECT version FROM mine.schema_version', { database: 'fresh' })).toBe('1');
      for (const remote of remotes) await remote.close();
    });

    it('are not tried by a role that may not, and tables of a newer program are left alone', async () => {
      await server.createDatabase('closed', 'owner');
      await server.sql('REVOKE CREATE ON DATABASE closed FROM PUBLIC');
      const alice = await open('closed', 'alice');
      await expect(alice.listLogs()).rejects.toMatchObject({
        code: 'HANDOVER_REMOTE_REFUSED',
        message: expect.stringContaining('no tables yet'),
      });
      await alice.close();
      const owner = await open('closed', 'owner');
      await owner.listLogs();
      await server.sql('UPDATE agent_handover.schema_version SET version = 99', { database: 'closed' });
      const later = await open('closed', 'owner');
      await expect(later.listLogs()).rejects.toMatchObject({ message: expect.stringContaining('newer version (99)') });
      await owner.close();
      await later.close();
    });
  });
});
