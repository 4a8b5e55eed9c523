import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../../src/model/handover.ts';
import { type Desk, errorCode, HANDOVER, makeDesk, runGit, runProcess } from '../../support/cli.ts';
import { hasTerminal, runInTerminal } from '../../support/terminal.ts';

const SECRET = `ghp_${'a1B2'.repeat(9)}`;

async function makeSender(): Promise<Desk> {
  const desk = makeDesk();
  await desk.ok(['keys', 'generate', '--name', 'alice']);
  return desk;
}

function unpack(path: string): string {
  const bytes = readFileSync(path);
  return bytes.toString('utf8');
}

describe('handover export', () => {
  it('shows with --dry-run exactly what would leave, and writes nothing', async () => {
    const desk = makeDesk();
    await desk.save('--title', 'One', '--next', 'go on');
    const { stdout, stderr } = await desk.run(['export', '--dry-run', '--output', '../x.handover']);
    expect(stderr).toContain('this would leave, not signed, readable by anybody; nothing was written');
    await desk.ok(['export', '--output', '../x.handover']);
    expect(unpack(join(desk.folder, 'x.handover'))).toContain(stdout);
    expect(JSON.parse(stdout)).toMatchObject({ title: 'One', workspace: { root: '.' } });
  });

  it('SH-16: lets no path of this machine leave, in any format', async () => {
    const desk = makeDesk();
    runGit(desk.project, 'init', '--quiet');
    const inside = join(desk.project, 'src/deep/a.ts');
    const home = join(desk.home, 'notes.md');
    await desk.save(
      '--title',
      `at ${inside}`,
      '--summary',
      `${desk.project} and ${home}`,
      '--note',
      `see ${inside}:12`,
      '--file',
      inside,
    );
    for (const format of ['bundle', 'json', 'markdown', 'session-handoff', 'v2']) {
      const { stdout } = await desk.run(['export', '--format', format]);
      expect(stdout, format).toContain('src/deep/a.ts');
      expect(stdout, format).not.toContain(desk.folder);
    }
    const [leaving] = JSON.parse(await desk.ok(['export', '--format', 'json']));
    expect(leaving).toMatchObject({
      title: 'at src/deep/a.ts',
      summary: '. and ~/notes.md',
      workspace: { root: '.', worktree: null },
    });
    expect(JSON.parse(await desk.ok(['export', '--format', 'session-handoff'])).record.project).toBe('project');
  });

  it('redacts once more on the way out', async () => {
    const desk = makeDesk();
    await desk.save('--title', 'Keys', '--note', `the token is ${SECRET}`);
    for (const format of ['bundle', 'json', 'markdown', 'session-handoff', 'v2']) {
      expect((await desk.run(['export', '--format', format])).stdout, format).not.toContain(SECRET);
    }
    const { stderr } = await desk.run(['export', '--dry-run']);
    expect(stderr).toContain('redacted: 1 github-token');
  });

  it('takes many, by id, by time or all, and of the facts only the kinds asked for', async () => {
    const desk = makeDesk();
    const ids = [
      await desk.save('--title', 'One', '--goal', 'g', '--next', 'n'),
      await desk.save('--title', 'Two', '--note', 'x'),
    ];
    const dryRun = async (...args: string[]): Promise<Handover[]> =>
      (await desk.json<{ handovers: Handover[] }>(['export', '--dry-run', ...args])).handovers;
    expect((await dryRun('--all')).map(({ id }) => id)).toEqual(ids);
    expect((await dryRun('--since', '1h')).map(({ id }) => id)).toEqual(ids);
    expect(
      (await dryRun('--id', ids[0] ?? '', '--id', ids[1] ?? '', '--id', ids[0] ?? '')).map(({ id }) => id),
    ).toEqual(ids);
    expect((await dryRun()).map(({ id }) => id)).toEqual(ids.slice(1));
    const [only] = await dryRun('--id', ids[0] ?? '', '--only', 'goal,note');
    expect(only?.facts.map(({ kind }) => kind)).toEqual(['goal']);
    expect(errorCode(await desk.run(['export', '--all', '--id', 'latest', '--json', '--dry-run']))).toBe(
      'HANDOVER_USAGE',
    );
    expect(errorCode(await desk.run(['export', '--only', 'gaol', '--json', '--dry-run']))).toBe('HANDOVER_USAGE');
  });

  it('SH-5: never leaves out a lock or a signature that was asked for', async () => {
    const desk = await makeSender();
    await desk.save('--title', 'One');
    writeFileSync(join(desk.folder, 'pass'), 'correct horse battery\n');
    for (const format of ['markdown', 'json', 'v2'])
      for (const flags of [
        ['--sign'],
        ['--passphrase-file', '../pass'],
        ['--encrypt-to', 'age1x'],
        ['--expires', '7d'],
      ]) {
        const { status, stdout, stderr } = await desk.run(['export', '--format', format, ...flags]);
        expect([status, stdout], `${format} ${flags.join(' ')}`).toEqual([64, '']);
        expect(stderr).toContain('does nothing with');
      }
    expect((await desk.run(['export', '--format', 'session-handoff', '--encrypt-to', 'age1x'])).status).toBe(64);
    expect((await desk.run(['export', '--encrypt-to', 'age1x'])).status).toBe(64);
  });

  it('SH-6: writes files that only this user can read, under any umask', async () => {
    const desk = await makeSender();
    await desk.save('--title', 'One');
    for (const format of ['bundle', 'json', 'markdown', 'session-handoff', 'v2']) {
      const path = join(desk.folder, `out-${format}`);
      const through = ['sh', '-c', 'umask 000; exec "$@"', 'sh'];
      await desk.ok(['export', '--format', format, '--output', path], { through });
      expect((lstatSync(path).mode & 0o777).toString(8), format).toBe('600');
    }
    for (const name of ['signing.key', 'age.key'])
      expect((lstatSync(join(desk.home, '.config/agent-handover/keys', name)).mode & 0o777).toString(8)).toBe('600');
  });

  it('SH-6, AF-3: takes neither passphrase nor key on the command line or from a variable', async () => {
    const desk = makeDesk();
    await desk.save('--title', 'One');
    for (const command of ['export', 'import'])
      for (const flag of ['--passphrase', '--password', '--key', '--sign-key', '--secret']) {
        const args = command === 'import' ? ['import', '--input', '-', flag, 'x'] : ['export', flag, 'x'];
        expect((await desk.run(args)).status, args.join(' ')).toBe(64);
      }
    for (const name of ['export', 'import', 'keys'])
      expect(await desk.ok([name, '--help'])).not.toMatch(/--(?:passphrase|password|key|secret)[ \]=]/);
    const variables = { HANDOVER_PASSPHRASE: 'correct horse battery', PASSPHRASE: 'correct horse battery' };
    const { status, stderr } = await desk.run(['export', '--ask-passphrase', '--output', '../x'], {
      env: variables,
    });
    expect([status, stderr]).toEqual([64, expect.stringContaining('no terminal to ask')]);
  });

  it('takes a passphrase from a descriptor, and refuses a short one', async () => {
    const desk = makeDesk();
    await desk.save('--title', 'One');
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
          cwd: desk.project,
          env: desk.env,
        },
      );
    expect((await run('short')).status).toBe(64);
    expect((await run('correct horse battery')).status).toBe(0);
    expect(readFileSync(join(desk.folder, 'fd.handover')).includes('age-encryption.org/v1\n-> scrypt ')).toBe(true);
  });

  it('does not write through a link, and leaves what it points to alone', async () => {
    const desk = makeDesk();
    await desk.save('--title', 'One');
    writeFileSync(join(desk.folder, 'mine'), 'mine');
    symlinkSync('mine', join(desk.folder, 'link'));
    mkdirSync(join(desk.folder, 'folder'));
    for (const name of ['link', 'folder'])
      expect(errorCode(await desk.run(['export', '--output', `../${name}`, '--json']))).toBe('HANDOVER_PATH_UNSAFE');
    expect(readFileSync(join(desk.folder, 'mine'), 'utf8')).toBe('mine');
  });

  it('says which file or folder is not there, and what to give instead', async () => {
    const desk = await makeSender();
    await desk.save('--title', 'One');
    for (const [flags, says] of [
      [['--output', '../no/such/file'], 'there is no folder'],
      [['--passphrase-file', '../none', '--output', '../x'], '--passphrase-fd 0'],
    ] as const) {
      const { status, stderr } = await desk.run(['export', ...flags]);
      expect([status, stderr]).toEqual([66, expect.stringContaining(says)]);
    }
  });

  it('does not sign with a key that was revoked', async () => {
    const desk = await makeSender();
    await desk.save('--title', 'One');
    const { own } = await desk.json<{ own: { name: string } }>(['keys', 'list']);
    await desk.ok(['keys', 'revoke', own.name]);
    const { status, stderr } = await desk.run(['export', '--sign', '--output', '../x']);
    expect([status, stderr]).toEqual([77, expect.stringContaining('handover keys generate')]);
    expect(existsSync(join(desk.folder, 'x'))).toBe(false);
  });

  it('does not sign without a key, and says how to make one', async () => {
    const desk = makeDesk();
    await desk.save('--title', 'One');
    expect((await desk.run(['export', '--sign', '--output', '../x'])).stderr).toContain('handover keys generate');
  });

  it.skipIf(!hasTerminal)('shows no bundle in a terminal, and asks there for a passphrase twice', async () => {
    const desk = makeDesk();
    await desk.save('--title', 'One');
    expect((await runInTerminal(desk, ['export'])).terminal).toContain('cannot be shown in a terminal');
    const word = 'correct horse battery';
    const keys = [
      { after: 'Passphrase to lock', type: `${word}\r` },
      { after: 'The same again', type: `${word}\r` },
    ];
    const { status, terminal } = await runInTerminal(
      desk,
      ['export', '--ask-passphrase', '--output', '../x.handover'],
      { keys },
    );
    expect(status).toBe(0);
    expect(terminal).not.toContain(word);
  });
});
