import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSandbox, runGit, type Sandbox } from '../../support/cli.ts';
import { hasTerminal, runInTerminal } from '../../support/terminal.ts';

type Synced = { sent: { handovers: number }; received: { handovers: number }; waiting: { name: string }[] };

/** Somebody with a clone of the same project, keys and the remote `team`. */
async function makeMember(name: string, shared: string): Promise<{ sandbox: Sandbox; key: string }> {
  const sandbox = makeSandbox();
  runGit(sandbox.project, 'init', '--quiet');
  runGit(sandbox.project, 'remote', 'add', 'origin', 'https://example.com/team/app.git');
  const { public_key: key } = await sandbox.json<{ public_key: string }>(['keys', 'generate', '--name', name]);
  await sandbox.json(['remote', 'add', 'team', shared]);
  return { sandbox, key };
}

async function makeTwo() {
  const shared = join(makeSandbox().folder, 'shared');
  mkdirSync(shared);
  const [ada, ben] = [await makeMember('ada', shared), await makeMember('ben', shared)];
  await ada.sandbox.json(['keys', 'trust', ben.key, '--name', 'ben']);
  await ben.sandbox.json(['keys', 'trust', ada.key, '--name', 'ada']);
  return { ada: ada.sandbox, ben: ben.sandbox, shared };
}

async function sync(sandbox: Sandbox): Promise<Synced> {
  return await sandbox.json<Synced>(['sync', '--yes']);
}

describe('sync', () => {
  test('the first time nothing leaves without a yes, and the preview shows what would', async () => {
    const { ada, shared } = await makeTwo();
    await ada.save('Retries done');
    const refused = await ada.run(['sync']);
    expect([refused.status, refused.stderr]).toEqual([64, expect.stringContaining('--yes')]);
    const preview = await ada.run(['sync', '--dry-run']);
    expect(preview.stdout).toContain('Retries done');
    expect(existsSync(join(shared, 'pages'))).toBe(false);
    expect((await sync(ada)).sent.handovers).toBe(1);
    expect((await ada.run(['sync'])).stdout).toBe('in step with team: nothing new\n');
  });

  test('what others did is restored only if they are of the team, and with their name', async () => {
    const { ada, ben } = await makeTwo();
    const id = await ada.save('Retries done', '--next', 'Write the timeout test');
    await sync(ada);
    expect((await sync(ben)).received.handovers).toBe(1);
    expect((await ben.run(['restore'])).status).toBe(66);
    const config = join(ben.home, '.config', 'agent-handover', 'config.toml');
    writeFileSync(config, '[sync]\nteam = ["ada"]\n');
    const restored = await ben.run(['restore']);
    expect([restored.status, restored.stdout]).toEqual([0, expect.stringContaining(id)]);
    expect(restored.stdout).toContain('signed by ada');
    expect(restored.stderr).toContain('this is from ada');
  });

  test('a handover that its writer forgets is gone from lists and searches of others', async () => {
    const { ada, ben } = await makeTwo();
    const id = await ada.save('The xylophone incident');
    await sync(ada);
    await sync(ben);
    expect((await ben.run(['search', 'xylophone'])).stdout).toContain(id);
    await ada.run(['forget', id]);
    await sync(ada);
    await sync(ben);
    expect((await ben.run(['list'])).stdout).not.toContain('xylophone');
    expect((await ben.run(['search', 'xylophone'])).stdout).not.toContain(id);
  });

  test('a project can forbid that anything of it leaves', async () => {
    const { ada } = await makeTwo();
    await ada.save('Secret plans');
    mkdirSync(join(ada.project, '.agent-handover'), { recursive: true });
    writeFileSync(join(ada.project, '.agent-handover', 'config.toml'), '[sync]\nenabled = false\n');
    expect((await ada.run(['sync', '--yes'])).status).toBe(64);
    const { sent } = await ada.json<Synced>(['sync', 'team', '--yes']);
    expect(sent.handovers).toBe(0);
  });

  test('status and doctor say what waits, and that a folder is away', async () => {
    const { ada, ben, shared } = await makeTwo();
    await sync(ada);
    await ada.save('Retries done');
    expect((await ada.run(['status'])).stdout).toContain('remote: team (synced just now; 1 change here not sent yet)');
    await sync(ada);
    await ben.run(['keys', 'revoke', 'ada']);
    await sync(ben);
    expect((await ben.run(['doctor'])).stdout).toContain('the key was revoked');
    const away = `${shared}-away`;
    await ada.json(['remote', 'add', 'other', away]);
    expect((await ada.run(['doctor'])).stdout).toContain(`the folder ${away} is not there`);
    expect((await ada.run(['remote', 'test', 'other'])).status).toBe(69);
  });
});

test.skipIf(!hasTerminal)('five commands in a terminal bring two machines in step', { timeout: 120_000 }, async () => {
  const [laptop, server, shared] = [makeSandbox(), makeSandbox(), makeSandbox().folder];
  const id = await laptop.save('Retries done');
  await laptop.ok(['remote', 'add', 'home', shared]);
  const first = await runInTerminal(laptop, ['sync'], {
    keys: [
      { after: 'Make one for', type: 'y' },
      { after: 'what you save', type: 'y' },
    ],
  });
  expect(first.terminal).toMatch(/Retries done[\s\S]*Send 1 handover to home[\s\S]*sent 1 handover/);
  await server.ok(['remote', 'add', 'home', shared]);
  const second = await runInTerminal(server, ['sync'], {
    keys: [
      { after: 'Make one for', type: 'y' },
      { after: 'Nothing leaves yet', type: 'y' },
      { after: 'the key of', type: 'y' },
    ],
    env: { USER: 'ada' },
  });
  expect([second.status, second.terminal]).toEqual([0, expect.stringContaining('received 1 handover')]);
  expect((await runInTerminal(laptop, ['sync'])).terminal).toContain('in step with');
  expect(await server.ok(['list'])).toContain(id);
});

describe('remote', () => {
  test('is kept for this user alone, without a password, and forgotten when it is removed', async () => {
    const { ada } = await makeTwo();
    const file = join(ada.home, '.config', 'agent-handover', 'remotes.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const refused = await ada.run(['remote', 'add', 'db', 'postgres://ada:hunter2@db/team']);
    expect([refused.status, refused.stderr]).toEqual([64, expect.stringContaining('PGPASSFILE')]);
    expect(refused.stderr).not.toContain('hunter2');
    await sync(ada);
    await ada.json(['remote', 'remove', 'team']);
    expect((await ada.run(['sync'])).stderr).toContain('handover remote add');
    expect(existsSync(join(ada.store, 'remotes', 'team.json'))).toBe(false);
  });
});
