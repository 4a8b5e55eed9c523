import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HANDOVER, makeSandbox, runProcess, type Sandbox } from '../../support/cli.ts';
import { hasTerminal, runInTerminal } from '../../support/terminal.ts';

async function makeSender(): Promise<Sandbox> {
  const sandbox = makeSandbox();
  await sandbox.ok(['keys', 'generate', '--name', 'alice']);
  return sandbox;
}

describe('handover export', () => {
  it('SH-5: never omits a requested encryption or signature', async () => {
    const sandbox = await makeSender();
    await sandbox.save('--title', 'One');
    writeFileSync(join(sandbox.folder, 'pass'), 'correct horse battery\n');
    for (const format of ['markdown', 'json', 'v2'])
      for (const flags of [
        ['--sign'],
        ['--passphrase-file', '../pass'],
        ['--encrypt-to', 'age1x'],
        ['--expires', '7d'],
      ]) {
        const { status, stdout, stderr } = await sandbox.run(['export', '--format', format, ...flags]);
        expect([status, stdout], `${format} ${flags.join(' ')}`).toEqual([64, '']);
        expect(stderr).toContain('has no effect with');
      }
    expect((await sandbox.run(['export', '--format', 'session-handoff', '--encrypt-to', 'age1x'])).status).toBe(64);
    expect((await sandbox.run(['export', '--encrypt-to', 'age1x'])).status).toBe(64);
  });

  it('SH-6: writes files that only this user can read, under any umask', async () => {
    const sandbox = await makeSender();
    await sandbox.save('--title', 'One');
    for (const format of ['bundle', 'json', 'markdown', 'session-handoff', 'v2']) {
      const path = join(sandbox.folder, `out-${format}`);
      const through = ['sh', '-c', 'umask 000; exec "$@"', 'sh'];
      await sandbox.ok(['export', '--format', format, '--output', path], { through });
      expect((lstatSync(path).mode & 0o777).toString(8), format).toBe('600');
    }
    for (const name of ['signing.key', 'age.key'])
      expect((lstatSync(join(sandbox.home, '.config/agent-handover/keys', name)).mode & 0o777).toString(8)).toBe('600');
  });

  it('SH-6, AF-3: takes neither passphrase nor key on the command line or from a variable', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--title', 'One');
    for (const command of ['export', 'import'])
      for (const flag of ['--passphrase', '--password', '--key', '--sign-key', '--secret']) {
        const args = command === 'import' ? ['import', '--input', '-', flag, 'x'] : ['export', flag, 'x'];
        expect((await sandbox.run(args)).status, args.join(' ')).toBe(64);
      }
    for (const name of ['export', 'import', 'keys'])
      expect(await sandbox.ok([name, '--help'])).not.toMatch(/--(?:passphrase|password|key|secret)[ \]=]/);
    const variables = { HANDOVER_PASSPHRASE: 'correct horse battery', PASSPHRASE: 'correct horse battery' };
    const { status, stderr } = await sandbox.run(['export', '--ask-passphrase', '--output', '../x'], {
      env: variables,
    });
    expect([status, stderr]).toEqual([64, expect.stringContaining('no terminal to ask')]);
  });

  it('reads a passphrase from a file descriptor, and refuses a short one', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--title', 'One');
    const run = (word: string) =>
      runProcess(
        [
          'sh',
          '-c',
          `exec 3<<E\n${word}\nE\nexec "$@" --passphrase-fd 3`,
          'sh',
          process.execPath,
          HANDOVER,
          'export',
          '--output',
          '../fd.handover',
        ],
        {
          cwd: sandbox.project,
          env: sandbox.env,
        },
      );
    expect((await run('short')).status).toBe(64);
    expect((await run('correct horse battery')).status).toBe(0);
    expect(readFileSync(join(sandbox.folder, 'fd.handover')).includes('age-encryption.org/v1\n-> scrypt ')).toBe(true);
  });

  it('names the file or folder that is missing, and what to pass instead', async () => {
    const sandbox = await makeSender();
    await sandbox.save('--title', 'One');
    for (const [flags, says] of [
      [['--output', '../no/such/file'], 'there is no folder'],
      [['--passphrase-file', '../none', '--output', '../x'], 'there is no file'],
    ] as const) {
      const { status, stderr } = await sandbox.run(['export', ...flags]);
      expect([status, stderr]).toEqual([66, expect.stringContaining(says)]);
    }
  });

  it.skipIf(!hasTerminal)('prints no bundle to a terminal, and asks there for a passphrase twice', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--title', 'One');
    expect((await runInTerminal(sandbox, ['export'])).terminal).toContain('cannot be shown in a terminal');
    const word = 'correct horse battery';
    const keys = [
      { after: 'Passphrase to encrypt', type: `${word}\r` },
      { after: 'Repeat the passphrase', type: `${word}\r` },
    ];
    const { status, terminal } = await runInTerminal(
      sandbox,
      ['export', '--ask-passphrase', '--output', '../x.handover'],
      { keys },
    );
    expect(status).toBe(0);
    expect(terminal).not.toContain(word);
  });
});
