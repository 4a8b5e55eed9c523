import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeTempFolder, type RunResult, runGit, runHandover } from '../../support/cli.ts';
import { findPostgresTrouble, openPostgresServer, type PostgresServer } from '../../support/postgres-server.ts';

const trouble = findPostgresTrouble();

describe.skipIf(trouble !== null)(`a team with PostgreSQL${trouble === null ? '' : ` (skipped: ${trouble})`}`, () => {
  let server: PostgresServer;
  let url = '';
  const people = new Map<string, { folder: string; env: Record<string, string> }>();

  beforeAll(async () => {
    server = await openPostgresServer();
    await server.createDatabase('team', 'ann', ['ben', 'cid']);
    url = `postgres://127.0.0.1:${server.port}/team?team=red`;
    for (const name of ['ann', 'ben', 'cid']) {
      const folder = makeTempFolder();
      runGit(folder, 'init', '--quiet');
      runGit(folder, 'remote', 'add', 'origin', 'https://example.com/team/uploads.git');
      const env = {
        HOME: folder,
        HANDOVER_HOME: join(folder, 'store'),
        PGUSER: name,
        PGPASSFILE: join(server.machine.home ?? '', '.pgpass'),
      };
      people.set(name, { folder, env });
      await run(name, 'keys', 'generate', '--name', name);
      await run(name, 'remote', 'add', 'team', url);
    }
  });

  async function run(who: string, ...args: string[]): Promise<RunResult> {
    const { folder, env } = people.get(who) ?? { folder: '', env: {} };
    return await runHandover(args, { cwd: folder, env });
  }

  it('is set up by the owner, lets members in, and shows what they have without bringing it here', async () => {
    const denied = await run('ben', 'remote', 'test', 'team');
    expect([denied.status, denied.stdout]).toEqual([69, expect.stringContaining('handover remote test NAME')]);
    expect((await run('ann', 'remote', 'test', 'team')).status).toBe(0);
    await server.sql(`SELECT agent_handover.admit('ben', 'red')`, { database: 'team', as: 'ann' });
    expect((await run('ben', 'remote', 'test', 'team')).status).toBe(0);
    await run('ann', 'save', 'Retry uploads', '--decision', 'uploads are retried three times with backoff');
    expect(await run('ann', 'sync', 'team', '--yes')).toMatchObject({ status: 0 });
    const listed = await run('ben', 'list', '--remote', 'team', '--json');
    const [row] = JSON.parse(listed.stdout);
    expect(row).toMatchObject({ title: 'Retry uploads', project: { name: 'uploads' } });
    const found = await run('ben', 'search', '--remote', 'team', 'retrying upload');
    expect(found.stdout).toContain('uploads are retried three times');
    expect(found.stdout).toContain(`handover show ${row.id} --remote team`);
    const shown = await run('ben', 'show', row.id, '--remote', 'team');
    expect(shown.stdout).toContain('uploads are retried three times');
    expect(shown.stdout).toContain('none: anybody could have written this');
    expect((await run('ben', 'list')).stdout).toContain('no handovers found');
  });

  it('lets a role of one project sync that project, and names those that it may not write', async () => {
    await run('ann', 'save', 'Uploads', '--next', 'more');
    const own = JSON.parse((await run('ann', 'list', '--json')).stdout)[0].project.id;
    await run('ann', 'sync', 'team', '--yes');
    const { env } = people.get('cid') ?? { env: {} };
    await server.sql(`SELECT agent_handover.admit('cid', 'blue')`, { database: 'team', as: 'ann' });
    expect(await run('cid', 'who', '--remote', 'team')).toMatchObject({
      status: 77,
      stderr: expect.stringContaining('not a member'),
    });
    await server.sql(`SELECT agent_handover.admit('cid', 'red', '${own}')`, { database: 'team', as: 'ann' });
    const other = makeTempFolder();
    runGit(other, 'init', '--quiet');
    await run('cid', 'save', 'Here', '--next', 'this');
    await runHandover(['save', 'Elsewhere', '--next', 'that'], { cwd: other, env });
    const first = await run('cid', 'sync', 'team', '--yes');
    expect(first).toMatchObject({ status: 0, stdout: expect.stringContaining('sent 1 handover') });
    expect(first.stdout).toContain(`nothing of ${basename(other)}`);
    expect((await run('cid', 'sync', 'team', '--dry-run')).stdout).toContain('nothing would leave');
    expect(await run('cid', 'sync', 'team')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('in step with team: nothing new'),
    });
    await server.sql(`SELECT agent_handover.admit('cid', 'red')`, { database: 'team', as: 'ann' });
    expect((await run('cid', 'sync', 'team')).stdout).toContain('sent 1 handover');
  });

  it('says what cannot be done with a remote', async () => {
    await run('ann', 'remote', 'add', 'folder', makeTempFolder());
    expect(await run('ann', 'search', '--remote', 'folder', 'anything')).toMatchObject({
      status: 64,
      stderr: expect.stringContaining('only PostgreSQL can'),
    });
    expect(await run('ann', 'list', '--remote', 'none')).toMatchObject({ status: 66 });
    expect(await run('ann', 'show', '20200101-000000-aaaa', '--remote', 'team')).toMatchObject({ status: 66 });
    expect(await run('ben', 'resume', '--from', 'team')).toMatchObject({
      status: 64,
      stderr: expect.stringContaining('never synced'),
    });
    expect(await run('ann', 'remote', 'add', 'bad', 'postgres://ann:pass@h/x')).toMatchObject({ status: 64 });
  });
});
