import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../../src/model/handover.ts';
import { type Desk, errorCode, makeDesk, runGit } from '../../support/cli.ts';

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
  it('prints with --dry-run exactly what would be exported, and writes nothing', async () => {
    const desk = makeDesk();
    await desk.save('--title', 'One', '--next', 'go on');
    const { stdout, stderr } = await desk.run(['export', '--dry-run', '--output', '../x.handover']);
    expect(stderr).toContain('this would leave, not signed, readable by anybody; nothing was written');
    await desk.ok(['export', '--output', '../x.handover']);
    expect(unpack(join(desk.folder, 'x.handover'))).toContain(stdout);
    expect(JSON.parse(stdout)).toMatchObject({ title: 'One', workspace: { root: '.' } });
  });

  it('SH-16: exports no absolute path of this machine, in any format', async () => {
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

  it('redacts secrets once more before exporting', async () => {
    const desk = makeDesk();
    await desk.save('--title', 'Keys', '--note', `the token is ${SECRET}`);
    for (const format of ['bundle', 'json', 'markdown', 'session-handoff', 'v2']) {
      expect((await desk.run(['export', '--format', format])).stdout, format).not.toContain(SECRET);
    }
    const { stderr } = await desk.run(['export', '--dry-run']);
    expect(stderr).toContain('redacted: 1 github-token');
  });

  it('exports several handovers by id, by time or all, and only the requested kinds of facts', async () => {
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

  it('does not write through a link, and leaves its target alone', async () => {
    const desk = makeDesk();
    await desk.save('--title', 'One');
    writeFileSync(join(desk.folder, 'mine'), 'mine');
    symlinkSync('mine', join(desk.folder, 'link'));
    mkdirSync(join(desk.folder, 'folder'));
    for (const name of ['link', 'folder'])
      expect(errorCode(await desk.run(['export', '--output', `../${name}`, '--json']))).toBe('HANDOVER_PATH_UNSAFE');
    expect(readFileSync(join(desk.folder, 'mine'), 'utf8')).toBe('mine');
  });

  it('does not sign with a revoked key', async () => {
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
});
