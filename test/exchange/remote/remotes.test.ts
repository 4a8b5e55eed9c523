import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { takeTask } from '../../../src/exchange/remote/custody.ts';
import { acceptAddress, openRemote } from '../../../src/exchange/remote/open-remote.ts';
import { runGit } from '../../support/cli.ts';
import { testRemote } from '../../support/conformance/remote.ts';
import { codeOf } from '../../support/publishing.ts';
import { BUCKET, openS3Server, S3_KEYS } from '../../support/s3-server.ts';
import { makeFolder, makeMachine, makeRandom } from '../../support/temp-store.ts';

testRemote('a folder', async () => {
  const folder = makeFolder();
  return async () => await openRemote({ name: 'team', url: folder }, makeMachine(folder));
});

testRemote('git', async () => {
  const folder = makeFolder();
  runGit(folder, 'init', '--quiet', '--bare', 'team.git');
  let machines = 0;
  return async () => {
    const home = join(folder, `m${machines++}`);
    mkdirSync(home);
    const machine = makeMachine(home, { random: makeRandom(machines) });
    return await openRemote({ name: 'team', url: `git+file://${folder}/team.git` }, machine);
  };
});

const S3_ENV = { AWS_ACCESS_KEY_ID: S3_KEYS.id, AWS_SECRET_ACCESS_KEY: S3_KEYS.secret };

testRemote('a bucket', async () => {
  const server = await openS3Server();
  const url = `s3://${BUCKET}/team?endpoint=${encodeURIComponent(server.url)}`;
  const machine = makeMachine(makeFolder(), { env: S3_ENV });
  return async () => await openRemote({ name: 'team', url }, machine);
});

describe('a remote that is away', () => {
  test('a folder that is not there is not made up', async () => {
    const folder = makeFolder();
    const away = join(folder, 'away');
    mkdirSync(away);
    const remote = await openRemote({ name: 'team', url: away }, makeMachine(folder));
    rmSync(away, { recursive: true });
    expect(await codeOf(remote.listLogs())).toBe('HANDOVER_REMOTE_UNREACHABLE');
    expect(await remote.check()).toMatchObject([{ isGood: false }]);
  });

  test.skipIf(process.getuid?.() === 0)('a folder that cannot be written is said to be so', async () => {
    const folder = makeFolder();
    chmodSync(folder, 0o500);
    const remote = await openRemote({ name: 'team', url: folder }, makeMachine(folder));
    expect(await remote.check()).toMatchObject([{ isGood: false }]);
    chmodSync(folder, 0o700);
  });

  test('a bucket that fails, does not answer or does not exist is an error with a code', async () => {
    const server = await openS3Server();
    const machine = makeMachine(makeFolder(), { env: S3_ENV });
    const open = async (bucket: string) =>
      await openRemote({ name: 'team', url: `s3://${bucket}/team?endpoint=${server.url}` }, machine);
    const log = { writer: '0'.repeat(32), project: 'p-0123456789abcdef' };
    const page = { number: 1, bytes: Buffer.from('page\n') };
    expect(await codeOf((await open('no-such-bucket')).appendPage(log, page))).toBe('HANDOVER_REMOTE_REFUSED');
    server.failWith = 503;
    expect(await codeOf((await open(BUCKET)).listLogs())).toBe('HANDOVER_REMOTE_UNREACHABLE');
    server.failWith = 403;
    expect(await codeOf((await open(BUCKET)).appendPage(log, page))).toBe('HANDOVER_REMOTE_REFUSED');
  });
});

describe('a remote that cannot promise one holder of a task', () => {
  const holder = { writer: '0'.repeat(32), name: 'ada' };
  const take = { task: '20260131-120000-k3fz', project: 'p-0123456789abcdef', by: holder, leaseMs: 600_000 };

  test('a server that writes over what is there is refused', async () => {
    const server = await openS3Server();
    server.honoursConditions = false;
    const machine = makeMachine(makeFolder(), { env: S3_ENV });
    const remote = await openRemote({ name: 'team', url: `s3://${BUCKET}/team?endpoint=${server.url}` }, machine);
    const register = remote.openRegister();
    if ('why' in register) throw new Error(register.why);
    expect(await codeOf(takeTask(register, take))).toBe('HANDOVER_REMOTE_REFUSED');
    expect([...server.objects.keys()]).toEqual([]);
  });

  test('a folder that a sync program copies is refused', async () => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'shared', 'team'), { recursive: true });
    const open = async () =>
      (await openRemote({ name: 'team', url: join(folder, 'shared', 'team') }, makeMachine(folder))).openRegister();
    expect(await open()).not.toHaveProperty('why');
    mkdirSync(join(folder, 'shared', '.stfolder'));
    expect(await open()).toEqual({ why: expect.stringContaining('Syncthing copies') });
  });
});

describe('the address of a remote', () => {
  const machine = makeMachine('/work/app', { home: '/home/ada' });

  test('a folder is kept as a whole path', () => {
    expect(['~/team', 'team', '/mnt/team', 'file:///mnt/team'].map((text) => acceptAddress(text, machine))).toEqual([
      '~/team',
      '/work/app/team',
      '/mnt/team',
      '/mnt/team',
    ]);
  });

  test('one with a password, of an unknown kind or with unknown parameters is refused', () => {
    for (const text of [
      'postgres://ada:hunter2@db/team',
      'postgres://db/team?password=hunter2',
      's3://bucket/team?endpoint=https://s3.example.com&secret=hunter2',
      's3://bucket/team',
      'git+https://ada:hunter2@example.com/team.git',
      'ftp://example.com/team',
    ])
      expect(() => acceptAddress(text, machine), text).toThrow(/password|address|endpoint|setting|kept/);
  });
});
