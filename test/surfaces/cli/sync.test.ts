import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HANDOVER, makeSandbox, makeTempFolder, runGit } from '../../support/cli.ts';
import { canTrace, traceCommand } from '../../support/strace.ts';

test('what leaves is shown first, and then sent', async () => {
  const sandbox = makeSandbox();
  const shared = join(sandbox.folder, 'shared');
  mkdirSync(shared);
  await sandbox.save('Retries done');
  expect((await sandbox.run(['sync'])).stderr).toContain('handover remote add');
  await sandbox.ok(['remote', 'add', 'team', shared]);
  expect((await sandbox.run(['sync'])).stderr).toContain('handover keys generate');
  expect(await sandbox.ok(['sync', '--dry-run'])).toContain('Retries done');
  const { recipient } = await sandbox.json<{ recipient: string }>(['keys', 'generate', '--name', 'ada']);
  expect(await sandbox.ok(['sync', '--dry-run'])).toContain('Retries done');
  await sandbox.ok(['remote', 'add', 'closed', shared, '--encrypt-to', recipient]);
  expect(await sandbox.ok(['sync', 'closed', '--dry-run'])).toContain(`${shared}, encrypted`);
  await sandbox.ok(['remote', 'remove', 'closed']);
  expect(await sandbox.ok(['sync', '--yes'])).toBe('in step with team: sent 1 handover\n');
});

test('a remote that cannot be reached, or was not confirmed yet, keeps no other back', async () => {
  const sandbox = makeSandbox();
  const [away, home, later] = ['away', 'near', 'later'].map((name) => join(sandbox.folder, name));
  for (const folder of [away, home, later]) mkdirSync(folder ?? '');
  await sandbox.ok(['keys', 'generate', '--name', 'ada']);
  await sandbox.save('Retries done');
  for (const folder of [away, home]) await sandbox.ok(['remote', 'add', basename(folder ?? ''), folder ?? '']);
  rmdirSync(away ?? '');
  const first = await sandbox.run(['sync', '--yes']);
  expect([first.status, first.stdout]).toEqual([69, 'in step with near: sent 1 handover\n']);
  expect(first.stderr).toContain(`the folder ${away} is not there`);
  mkdirSync(away ?? '');
  await sandbox.ok(['remote', 'add', 'later', later ?? '']);
  await sandbox.save('More');
  const second = await sandbox.run(['sync']);
  expect([second.status, second.stdout]).toEqual([64, 'in step with near: sent 1 handover\n']);
  expect(second.stderr).toContain('handover sync away --yes');
  expect(second.stderr).toContain('handover sync later --yes');
});

test('an address with a token or a password in it is refused, and shown nowhere', async () => {
  const sandbox = makeSandbox();
  const secret = `tok${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}`;
  for (const url of [
    `git+https://${secret}@github.com/x/y`,
    `git+https://me:${secret}@github.com/x/y`,
    `s3://bucket/p?endpoint=https://me:${secret}@example.org`,
    `postgres://me:${secret}@db/work`,
  ]) {
    const { status, stdout, stderr } = await sandbox.run(['remote', 'add', 'team', url]);
    expect([url, status]).toEqual([url, 64]);
    expect(stdout + stderr).not.toContain(secret);
  }
  expect(await sandbox.ok(['remote', 'list', '--json'])).not.toContain(secret);
});

test('what could not be a remote is not added', async () => {
  const sandbox = makeSandbox();
  const bare = join(sandbox.folder, 'bare.git');
  runGit(sandbox.folder, 'init', '--quiet', '--bare', bare);
  const file = join(sandbox.folder, 'file');
  writeFileSync(file, '');
  await sandbox.save('Retries done');
  for (const [url, says] of [
    ['', 'empty'],
    [bare, `git+file://${bare}`],
    [file, 'is not a folder'],
    [sandbox.store, 'private'],
    ['postgres://ada@db/work?sslmode=bogus', 'sslmode'],
    ['postgres://ada@db/work?tema=red', 'Known: team, schema, host, port, dbname, user, service'],
    ['s3://bucket/prefix', '?endpoint='],
    ['s3://bucket/prefix?endpoint=https://s3.example.com&colour=red', '?endpoint='],
  ] as const) {
    const { status, stderr } = await sandbox.run(['remote', 'add', 'team', url]);
    expect([url, status, stderr]).toEqual([url, 64, expect.stringContaining(says)]);
  }
  const shared = makeTempFolder();
  expect((await sandbox.run(['remote', 'add', 'team', shared, '--agent', 'nosuchagent'])).status).toBe(64);
  await sandbox.ok(['remote', 'add', 'team', shared, '--agent', 'manual', '--agent', 'Codex']);
});

test('the reason of a mark leaves without paths of this machine', async () => {
  const sandbox = makeSandbox();
  const shared = join(sandbox.folder, 'shared');
  mkdirSync(shared);
  await sandbox.ok(['keys', 'generate', '--name', 'ada']);
  await sandbox.ok(['remote', 'add', 'team', shared]);
  await sandbox.save('Retries done');
  const { id } = JSON.parse(await sandbox.ok(['save', '--title', 'More', '--next', 'try it', '--json']));
  await sandbox.ok(['refute', 'try it', '--in', id, '--because', `see ${sandbox.env.HOME}/private/notes`]);
  const left = await sandbox.ok(['sync', '--dry-run']);
  expect(left).toContain('see ~/private/notes');
  expect(left).not.toContain(`${sandbox.env.HOME}/private`);
});

describe('without a remote', () => {
  test.skipIf(!canTrace)('no command opens a socket or loads anything of syncing', { timeout: 240_000 }, async () => {
    const sandbox = makeSandbox();
    await sandbox.save('Retries done');
    for (const args of [['status'], ['doctor'], ['list'], ['resume']]) {
      const command = [process.execPath, HANDOVER, ...args];
      const options = { cwd: sandbox.project, env: { ...sandbox.env, NODE_DISABLE_COMPILE_CACHE: '1' } };
      const { calls } = await traceCommand(command, 'socket,connect,openat', options);
      expect([args, calls.filter((line) => /AF_INET|AF_UNIX/.test(line))]).toEqual([args, []]);
      const files = calls.flatMap((line) => /<([^<>]*\/dist\/[^<>]+\.cjs)>$/.exec(line)?.[1] ?? []);
      expect(files.length).toBeGreaterThan(0);
      expect([args, files.filter((file) => readFileSync(file, 'utf8').includes('sync-page/1'))]).toEqual([args, []]);
    }
  });
});
