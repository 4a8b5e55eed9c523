import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../../src/model/handover.ts';
import { errorCode, makeSandbox, runGit, type Sandbox } from '../../support/cli.ts';

const SECRET = `ghp_${'a1B2'.repeat(9)}`;

async function makeSender(): Promise<Sandbox> {
  const sandbox = makeSandbox();
  await sandbox.ok(['keys', 'generate', '--name', 'alice']);
  return sandbox;
}

function unpack(path: string): string {
  const bytes = readFileSync(path);
  return bytes.toString('utf8');
}

describe('handover export', () => {
  it('prints with --dry-run exactly what would be exported, and writes nothing', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--title', 'One', '--next', 'go on');
    const { stdout, stderr } = await sandbox.run(['export', '--dry-run', '--output', '../x.handover']);
    expect(stderr).toContain('this would be exported, not signed, readable by anybody; nothing was written');
    const written = await sandbox.run(['export', '--output', '../x.handover']);
    expect(written.stderr).toContain('on the other machine: handover import x.handover --allow-unsigned\n');
    expect(unpack(join(sandbox.folder, 'x.handover'))).toContain(stdout);
    expect(JSON.parse(stdout)).toMatchObject({ title: 'One', workspace: { root: '.' } });
  });

  it('SH-16: exports no absolute path of this machine, in any format', async () => {
    const sandbox = makeSandbox();
    runGit(sandbox.project, 'init', '--quiet');
    const inside = join(sandbox.project, 'src/deep/a.ts');
    const home = join(sandbox.home, 'notes.md');
    await sandbox.save(
      '--title',
      `at ${inside}`,
      '--summary',
      `${sandbox.project} and ${home}`,
      '--note',
      `see ${inside}:12`,
      '--file',
      inside,
    );
    for (const format of ['bundle', 'json', 'markdown', 'session-handoff', 'v2']) {
      const { stdout } = await sandbox.run(['export', '--format', format]);
      expect(stdout, format).toContain('src/deep/a.ts');
      expect(stdout, format).not.toContain(sandbox.folder);
    }
    const [leaving] = JSON.parse(await sandbox.ok(['export', '--format', 'json']));
    expect(leaving).toMatchObject({
      title: 'at src/deep/a.ts',
      summary: '. and ~/notes.md',
      workspace: { root: '.', worktree: null },
    });
    expect(JSON.parse(await sandbox.ok(['export', '--format', 'session-handoff'])).record.project).toBe('project');
  });

  it('redacts secrets once more before exporting', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--title', 'Keys', '--note', `the token is ${SECRET}`);
    for (const format of ['bundle', 'json', 'markdown', 'session-handoff', 'v2']) {
      expect((await sandbox.run(['export', '--format', format])).stdout, format).not.toContain(SECRET);
    }
    const { stderr } = await sandbox.run(['export', '--dry-run']);
    expect(stderr).toContain('redacted: 1 github-token');
  });

  it('exports several handovers by id, by time or all, and only the requested kinds of facts', async () => {
    const sandbox = makeSandbox();
    const ids = [
      await sandbox.save('--title', 'One', '--goal', 'g', '--next', 'n'),
      await sandbox.save('--title', 'Two', '--note', 'x'),
    ];
    const dryRun = async (...args: string[]): Promise<Handover[]> =>
      (await sandbox.json<{ handovers: Handover[] }>(['export', '--dry-run', ...args])).handovers;
    expect((await dryRun('--all')).map(({ id }) => id)).toEqual(ids);
    expect((await dryRun('--since', '1h')).map(({ id }) => id)).toEqual(ids);
    expect(
      (await dryRun('--id', ids[0] ?? '', '--id', ids[1] ?? '', '--id', ids[0] ?? '')).map(({ id }) => id),
    ).toEqual(ids);
    expect((await dryRun()).map(({ id }) => id)).toEqual(ids.slice(1));
    const [only] = await dryRun('--id', ids[0] ?? '', '--only', 'goal,note');
    expect(only?.facts.map(({ kind }) => kind)).toEqual(['goal']);
    expect(errorCode(await sandbox.run(['export', '--all', '--id', 'latest', '--json', '--dry-run']))).toBe(
      'HANDOVER_USAGE',
    );
    expect(errorCode(await sandbox.run(['export', '--only', 'gaol', '--json', '--dry-run']))).toBe('HANDOVER_USAGE');
  });

  it('sends nothing of another project unless its whole id is written out or all projects are asked for', async () => {
    const sandbox = makeSandbox();
    const other = join(sandbox.folder, 'other');
    mkdirSync(other);
    const own = await sandbox.save('--title', 'Own work');
    const { id: foreign } = await sandbox.json<{ id: string }>(['save', '--title', 'Other work'], { cwd: other });
    const packed = async (...args: string[]): Promise<string[]> =>
      JSON.parse(await sandbox.ok(['export', '--format', 'json', ...args])).map(({ title }: Handover) => title);
    expect(await packed('--id', 'latest')).toEqual(['Own work']);
    expect(await packed()).toEqual(['Own work']);
    expect(await packed('--id', foreign)).toEqual(['Other work']);
    expect(await packed('--id', 'latest', '--all-projects')).toEqual(['Other work']);
    expect(await packed('--since', '1h', '--all-projects')).toEqual(['Own work', 'Other work']);
    expect(await sandbox.ok(['render', 'latest'])).toContain('Own work');
    expect(await sandbox.ok(['to', 'codex', '--print', '--from', 'latest'])).toContain('Own work');
    await sandbox.ok(['forget', own]);
    for (const command of [['export'], ['render'], ['to', 'codex', '--print']]) {
      for (const id of [[], ['latest'], [foreign.slice(0, -1)]]) {
        const flag = command[0] === 'export' ? '--id' : '--from';
        const words = id.length === 0 || command[0] === 'render' ? id : [flag, ...id];
        const { status, stdout } = await sandbox.run([...command, ...words]);
        expect([command, id, status, stdout]).toEqual([command, id, 66, '']);
      }
    }
    expect(await sandbox.ok(['render', foreign.slice(0, -1), '--all-projects'])).toContain('Other work');
  });

  it('does not write through a link, and leaves its target alone', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--title', 'One');
    writeFileSync(join(sandbox.folder, 'mine'), 'mine');
    symlinkSync('mine', join(sandbox.folder, 'link'));
    mkdirSync(join(sandbox.folder, 'folder'));
    for (const name of ['link', 'folder'])
      expect(errorCode(await sandbox.run(['export', '--output', `../${name}`, '--json']))).toBe('HANDOVER_PATH_UNSAFE');
    expect(readFileSync(join(sandbox.folder, 'mine'), 'utf8')).toBe('mine');
  });

  it('does not sign with a revoked key', async () => {
    const sandbox = await makeSender();
    await sandbox.save('--title', 'One');
    const { own } = await sandbox.json<{ own: { name: string } }>(['keys', 'list']);
    await sandbox.ok(['keys', 'revoke', own.name]);
    const { status, stderr } = await sandbox.run(['export', '--sign', '--output', '../x']);
    expect([status, stderr]).toEqual([77, expect.stringContaining('handover keys generate')]);
    expect(existsSync(join(sandbox.folder, 'x'))).toBe(false);
  });

  it('does not sign without a key, and says how to make one', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--title', 'One');
    expect((await sandbox.run(['export', '--sign', '--output', '../x'])).stderr).toContain('handover keys generate');
  });
});
