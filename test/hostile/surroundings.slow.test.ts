import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCode, inPairs, makeSandbox, makeTempFolder, runHandover } from '../support/cli.ts';

const COMMANDS = [
  ['save', '--summary', 'x', '--json'],
  ['list', '--json'],
  ['show', '--json'],
  ['render', '--json'],
  ['select', '--print-id', '--json'],
  ['forget', '20260101', '--json'],
  ['doctor', '--json'],
];

describe('HANDOVER_HOME', () => {
  it('counts as unset when it is empty', async () => {
    const sandbox = makeSandbox();
    const { path } = await sandbox.json<{ path: string }>(['save', '--summary', 'x'], {
      env: { HANDOVER_HOME: '' },
    });
    expect(path.startsWith(join(sandbox.home, '.local', 'share', 'agent-handover'))).toBe(true);
  });

  it('is resolved from the current folder when relative', async () => {
    const sandbox = makeSandbox();
    const { path } = await sandbox.json<{ path: string }>(['save', '--summary', 'x'], {
      env: { HANDOVER_HOME: 'a/b' },
    });
    expect(path.startsWith(join(sandbox.project, 'a', 'b', 'handovers'))).toBe(true);
    expect(await sandbox.ok(['list'], { env: { HANDOVER_HOME: './a/../a/b' } })).toContain('x');
  });

  it.each(['file', 'file/inside', 'file/far/inside'])('is refused when it is %s', async (place) => {
    const sandbox = makeSandbox();
    writeFileSync(join(sandbox.folder, 'file'), 'canary');
    const home = join(sandbox.folder, place);
    const results = await inPairs(COMMANDS, (args) => sandbox.run(args, { env: { HANDOVER_HOME: home } }));
    for (const result of results) {
      expect([result.status, errorCode(result)]).toEqual([77, 'HANDOVER_PATH_UNSAFE']);
    }
  });

  it('with a path that is too long for the system fails with a code', async () => {
    const sandbox = makeSandbox();
    const env = { HANDOVER_HOME: join(sandbox.folder, 'x'.repeat(300)) };
    for (const result of await inPairs(COMMANDS, (args) => sandbox.run(args, { env }))) {
      expect([0, 66, 74]).toContain(result.status);
    }
  });

  it('that does not exist counts as an empty store, which reading does not create', async () => {
    const sandbox = makeSandbox();
    const results = await inPairs(COMMANDS.slice(1), (args) => sandbox.run(args));
    expect(results.map(({ status }) => status)).toEqual([0, 66, 66, 66, 66, 0]);
    expect(existsSync(sandbox.store)).toBe(false);
  });
});

describe('HOME', () => {
  it('may be missing where HANDOVER_HOME is set', async () => {
    const sandbox = makeSandbox();
    await sandbox.ok(['save', '--summary', 'x'], { env: { HOME: undefined } });
    expect(await sandbox.ok(['list'], { env: { HOME: undefined } })).toContain('x');
  });

  it('is required where nothing else names a folder for the store', async () => {
    const cwd = makeTempFolder();
    for (const args of COMMANDS) {
      const result = await runHandover(args, { cwd, env: { HOME: '' } });
      expect([result.status, errorCode(result)]).toEqual([78, 'HANDOVER_HOME_UNKNOWN']);
    }
  });

  it('may be relative, or a folder that does not exist', async () => {
    const cwd = makeTempFolder();
    for (const HOME of ['relative', join(cwd, 'missing')]) {
      expect((await runHandover(['save', '--summary', 'x'], { cwd, env: { HOME } })).status).toBe(0);
      expect((await runHandover(['list'], { cwd, env: { HOME } })).stdout).toContain('x');
    }
  });
});

describe.skipIf(process.platform === 'win32')('the current folder', () => {
  it('may be deleted: every command fails with a code', async () => {
    const sandbox = makeSandbox();
    const results = await inPairs(COMMANDS, (args) => {
      const gone = makeTempFolder();
      return sandbox.run(args, { cwd: gone, through: ['sh', '-c', `rmdir "${gone}"; exec "$0" "$@"`] });
    });
    for (const result of results) expect([result.status, errorCode(result)]).toEqual([66, 'HANDOVER_PROJECT_MISSING']);
    const version = await sandbox.run(['--version'], {
      through: ['sh', '-c', 'd=$(mktemp -d); cd "$d"; rmdir "$d"; exec "$0" "$@"'],
    });
    expect(version.status).toBe(0);
  });

  it('may have a .git that is broken, empty or a link to itself', async () => {
    const sandbox = makeSandbox();
    for (const make of [
      (git: string) => writeFileSync(git, 'gitdir: /nowhere\n'),
      (git: string) => mkdirSync(git),
      (git: string) => writeFileSync(git, '\0\u001b[2J'),
    ]) {
      const folder = makeTempFolder();
      make(join(folder, '.git'));
      expect((await sandbox.run(['save', '--summary', 'x', '--project', folder])).status).toBe(0);
      expect((await sandbox.run(['show'], { cwd: folder })).status).toBe(0);
    }
  });
});

describe('standard streams', () => {
  it.skipIf(process.platform === 'win32')('may be closed, full or unread', async () => {
    const sandbox = makeSandbox();
    for (let count = 0; count < 3; count++) await sandbox.save('--summary', 'x'.repeat(50_000));
    const shell = (line: string) =>
      sandbox.run(['show', '--json'], { through: ['sh', '-c', `{ ${line}; } 2>&1; echo "status $?"`] });
    expect((await shell('"$0" "$@" >&-')).stdout).toMatch(/status \d+\n$/);
    expect((await shell('"$0" "$@" | head -c 10 >/dev/null')).stdout).toBe('status 0\n');
    expect((await shell('"$0" "$@" <&- >/dev/null')).stdout).toBe('status 0\n');
    const full = await shell('"$0" "$@" >/dev/full');
    expect(full.stdout).toMatch(/status 74\n$/);
  });
});
