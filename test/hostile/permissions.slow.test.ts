import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asOrdinaryUser, giveAway, isBoundByModes } from '../support/another-user.ts';
import { errorCode, hasProgram, makeSandbox, type RunOptions, type Sandbox } from '../support/cli.ts';
import { snapshotTree } from '../support/tree.ts';

const ordinary: RunOptions = { through: asOrdinaryUser };

function findTooOpen(store: string): string[] {
  return ['.', ...readdirSync(store, { recursive: true, encoding: 'utf8' })].flatMap((path) => {
    const stat = statSync(join(store, path));
    const expected = stat.isDirectory() ? 0o700 : 0o600;
    const mode = stat.mode & 0o777;
    return mode === expected ? [] : [`${path} ${mode.toString(8)}`];
  });
}

describe.runIf(isBoundByModes).each(['000', '077', '777', '022'])('with the umask %s', (umask) => {
  const under: RunOptions = { through: [...asOrdinaryUser, 'sh', '-c', `umask ${umask}; exec "$0" "$@"`] };

  it('every file is for its owner alone after every command that writes', async () => {
    const sandbox = makeSandbox();
    const handoffs = join(sandbox.folder, 'handoffs.json');
    const record = {
      id: '20250101-000000',
      created_at: '2025-01-01T00:00:00Z',
      tool: 'a',
      project: '/p',
      title: 't',
      summary: 's',
    };
    writeFileSync(handoffs, JSON.stringify({ version: 1, items: [record] }));
    giveAway(sandbox.folder);
    const run = async (...args: string[]): Promise<string> => {
      const output = await sandbox.ok(args, under);
      expect(findTooOpen(sandbox.store), args.join(' ')).toEqual([]);
      return output;
    };
    await run('save', '--summary', 'one');
    await run('list');
    await run('migrate', '--from', handoffs);
    await run('list', '--query', 'one');
    const { id } = JSON.parse(await run('save', '--summary', 'two', '--json'));
    await run('forget', id);
    writeFileSync(join(sandbox.store, 'handovers', '2025', '01', '20250101-000001.json'), 'bad', {
      mode: 0o600,
    });
    giveAway(sandbox.store);
    await run('doctor', '--fix');
    await run('doctor');
  });
});

async function prepare(): Promise<{ sandbox: Sandbox; id: string }> {
  const sandbox = makeSandbox();
  giveAway(sandbox.folder);
  const { id }: { id: string } = JSON.parse(await sandbox.ok(['save', '--summary', 'kept', '--json'], ordinary));
  await sandbox.ok(['list'], ordinary);
  const bad = join(sandbox.store, 'handovers', '2025', '01');
  mkdirSync(bad, { recursive: true, mode: 0o700 });
  writeFileSync(join(bad, '20250101-000001.json'), 'bad', { mode: 0o600 });
  giveAway(sandbox.store);
  return { sandbox, id };
}

async function expectReadable(sandbox: Sandbox, id: string, options: RunOptions): Promise<void> {
  for (const args of [['list'], ['list', '--json'], ['list', '--query', 'kept'], ['show', id], ['show'], ['render']]) {
    expect(await sandbox.ok(args, options), args.join(' ')).toContain(id);
  }
  const found = await sandbox.run(['doctor'], options);
  expect([found.status, found.stdout]).toEqual([65, expect.stringContaining('20250101-000001.json is damaged')]);
}

describe.runIf(isBoundByModes)('a store that this user may not write', () => {
  it('can still be read, and writing commands report it', async () => {
    const { sandbox, id } = await prepare();
    execFileSync('chmod', ['-R', 'a-w', sandbox.store]);
    const before = snapshotTree(sandbox.store);
    await expectReadable(sandbox, id, ordinary);
    for (const args of [
      ['save', '--summary', 'x', '--json'],
      ['forget', id, '--json'],
    ]) {
      const result = await sandbox.run(args, ordinary);
      expect([result.status, errorCode(result)]).toEqual([77, 'HANDOVER_PERMISSION']);
    }
    const fix = await sandbox.run(['doctor', '--fix'], ordinary);
    expect(fix.status).toBe(65);
    expect(fix.stdout).toContain('not fixed: EACCES');
    expect(snapshotTree(sandbox.store)).toEqual(before);
    execFileSync('chmod', ['-R', 'u+w', sandbox.store]);
  });
});

const canMount = hasProgram('unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /mnt');

describe.runIf(isBoundByModes && canMount)('a store on a read-only disk', () => {
  it('can still be read, and says so where it had to be written', async () => {
    const { sandbox, id } = await prepare();
    const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
    const readOnly: RunOptions = {
      through: ['unshare', '-m', 'sh', '-c', script, sandbox.store, ...asOrdinaryUser],
    };
    await expectReadable(sandbox, id, readOnly);
    for (const args of [
      ['save', '--summary', 'x', '--json'],
      ['forget', id, '--json'],
    ]) {
      const result = await sandbox.run(args, readOnly);
      expect([result.status, errorCode(result)]).toEqual([74, 'HANDOVER_READ_ONLY']);
    }
    expect((await sandbox.run(['doctor', '--fix'], readOnly)).stdout).toContain('not fixed: EROFS');
  });
});

describe.runIf(isBoundByModes)('the folder of the store', () => {
  it('cannot be created where this user may not write', async () => {
    const sandbox = makeSandbox();
    const locked = join(sandbox.folder, 'locked');
    mkdirSync(locked, { mode: 0o500 });
    giveAway(sandbox.folder);
    const options = { ...ordinary, env: { HANDOVER_HOME: join(locked, 'store') } };
    const saved = await sandbox.run(['save', '--summary', 'x', '--json'], options);
    expect([saved.status, errorCode(saved)]).toEqual([77, 'HANDOVER_PERMISSION']);
    expect((await sandbox.run(['list'], options)).status).toBe(0);
    expect((await sandbox.run(['doctor'], options)).status).toBe(0);
    rmSync(locked, { recursive: true });
  });

  it('is refused when it is another user’s, or lies in a folder that may not be entered', async () => {
    const sandbox = makeSandbox();
    giveAway(sandbox.folder);
    const shut = join(sandbox.folder, 'shut');
    mkdirSync(join(shut, 'store'), { recursive: true });
    giveAway(shut);
    execFileSync('chmod', ['000', shut]);
    for (const args of [['save', '--summary', 'x'], ['list'], ['doctor'], ['render']]) {
      const result = await sandbox.run(args, { ...ordinary, env: { HANDOVER_HOME: join(shut, 'store') } });
      expect([74, 77], args.join(' ')).toContain(result.status);
    }
    const foreign = await sandbox.run(['save', '--summary', 'x', '--json'], {
      ...ordinary,
      env: { HANDOVER_HOME: '/' },
    });
    expect([77, 74]).toContain(foreign.status);
    execFileSync('chmod', ['700', shut]);
  });
});
