import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox, runGit, type Sandbox } from '../../support/cli.ts';

const STEPS = [{ ask: 'Make the upload retry' }, { edit: 'upload.ts' }, { say: 'It retries now.' }];

function initialise(folder: string, content = 'one'): void {
  mkdirSync(folder, { recursive: true });
  runGit(folder, 'init', '--quiet');
  writeFileSync(join(folder, 'first.txt'), content);
  runGit(folder, 'add', '.');
  runGit(folder, 'commit', '--quiet', '--message', `begin ${folder}`);
}

async function workIn(sandbox: Sandbox, cwd: string, day = 3): Promise<string> {
  return (await captureWork(sandbox, { day, cwd, steps: STEPS })).id;
}

/** The ids of the handovers that a command finds in the project of a folder. */
async function listed(sandbox: Sandbox, folder: string): Promise<string[]> {
  const rows = await sandbox.json<{ id: string }[]>(['list', '--project', folder], { cwd: folder });
  return rows.map(({ id }) => id);
}

async function resumed(sandbox: Sandbox, folder: string): Promise<string | null> {
  const { status, stdout } = await sandbox.run(['resume', '--json'], { cwd: folder });
  return status === 0 ? JSON.parse(stdout).id : null;
}

describe('the history of a project', () => {
  it('stays when a remote is added, changed and removed', async () => {
    const sandbox = makeSandbox();
    initialise(sandbox.project);
    const ids = [await workIn(sandbox, sandbox.project, 3)];
    for (const [day, ...change] of [
      [4, 'add', 'origin', 'https://example.org/a/one.git'],
      [5, 'set-url', 'origin', 'https://example.org/b/two.git'],
      [6, 'remove', 'origin'],
    ] as const) {
      runGit(sandbox.project, 'remote', ...change);
      expect(await listed(sandbox, sandbox.project)).toEqual(ids);
      expect(await resumed(sandbox, sandbox.project)).toBe(ids[0]);
      ids.unshift(await workIn(sandbox, sandbox.project, day));
      expect(await listed(sandbox, sandbox.project)).toEqual(ids);
    }
    const { previous } = await sandbox.json<{ previous: string }>(['show', String(ids[0])]);
    expect(previous).toBe(ids[1]);
    const report = await sandbox.ok(['doctor']);
    expect(report).not.toContain('is not a file of the store');
    expect(report).toMatch(/is one project under 3 ids: p-\w+, p-\w+, p-\w+; it was seen as .*example\.org\/a\/one/);
    expect((await sandbox.json<{ hits: object[] }>(['search', 'upload retry', '--project', '.'])).hits).not.toEqual([]);
    expect(await sandbox.ok(['files'])).toMatch(/upload\.ts\n {2}edited in 4 sessions/);
  });

  it('stays when its folder is moved, and when it is cloned again', async () => {
    const sandbox = makeSandbox();
    const before = join(sandbox.folder, 'before');
    const after = join(sandbox.folder, 'deep', 'after');
    initialise(before);
    const id = await workIn(sandbox, before);
    mkdirSync(join(sandbox.folder, 'deep'));
    renameSync(before, after);
    expect(await listed(sandbox, after)).toEqual([id]);
    expect(await resumed(sandbox, after)).toBe(id);
    const second = await workIn(sandbox, after, 4);
    expect(await sandbox.json(['show', second])).toMatchObject({ previous: id });
    const renamed = `${after}-renamed`;
    runGit(after, 'remote', 'add', 'origin', 'https://example.org/a/tool.git');
    expect(await listed(sandbox, after)).toEqual([second, id]);
    renameSync(after, renamed);
    runGit(renamed, 'remote', 'set-url', 'origin', 'https://example.org/new-owner/tool.git');
    expect(await listed(sandbox, renamed)).toEqual([second, id]);
    renameSync(renamed, after);
    const again = join(sandbox.folder, 'again');
    runGit(sandbox.folder, 'clone', '--quiet', after, again);
    runGit(again, 'remote', 'remove', 'origin');
    rmSync(after, { recursive: true });
    expect(await listed(sandbox, again)).toEqual([second, id]);
    expect(await resumed(sandbox, again)).toBe(second);
  });

  it('stays when the remote was added before anything was noted', async () => {
    const sandbox = makeSandbox();
    initialise(sandbox.project);
    const id = await workIn(sandbox, sandbox.project);
    rmSync(join(sandbox.store, 'projects.json'));
    runGit(sandbox.project, 'remote', 'add', 'origin', 'https://example.org/a/one.git');
    expect(await listed(sandbox, sandbox.project)).toEqual([id]);
  });

  it('keeps its marks', async () => {
    const sandbox = makeSandbox();
    initialise(sandbox.project);
    await sandbox.save('--title', 'Steps', '--next', 'Write the changelog');
    runGit(sandbox.project, 'remote', 'add', 'origin', 'https://example.org/a/one.git');
    const { facts } = await sandbox.json<{ facts: { id: string; text: string }[] }>(['show']);
    const fact = facts.find(({ text }) => text === 'Write the changelog')?.id ?? '';
    await sandbox.ok(['resolve', fact]);
    runGit(sandbox.project, 'remote', 'set-url', 'origin', 'https://example.org/b/two.git');
    expect(await sandbox.ok(['resume'])).not.toContain('Write the changelog');
  });

  it('is not shared with a fork, a repository that took its place, or another without commits', async () => {
    const sandbox = makeSandbox();
    const [own, fork] = [join(sandbox.folder, 'own'), join(sandbox.folder, 'fork')];
    initialise(own);
    runGit(own, 'remote', 'add', 'origin', 'https://example.org/a/tool.git');
    const id = await workIn(sandbox, own);
    cpSync(own, fork, { recursive: true });
    runGit(fork, 'remote', 'set-url', 'origin', 'https://example.org/me/tool.git');
    expect(await listed(sandbox, fork)).toEqual([]);
    rmSync(own, { recursive: true });
    initialise(own, 'something else');
    runGit(own, 'remote', 'add', 'origin', 'https://example.org/z/other.git');
    expect(await listed(sandbox, own)).toEqual([]);
    const empty = join(sandbox.folder, 'empty');
    mkdirSync(empty);
    runGit(empty, 'init', '--quiet');
    expect(await listed(sandbox, empty)).toEqual([]);
    expect(await sandbox.json<{ id: string }[]>(['list'])).toMatchObject([{ id }]);
  });

  it('is found from a shallow clone by its remote, though that does not have the first commit', async () => {
    const sandbox = makeSandbox();
    const own = join(sandbox.folder, 'own');
    initialise(own);
    runGit(own, 'commit', '--quiet', '--allow-empty', '--message', 'second');
    const id = await workIn(sandbox, own);
    const [shallow, lost] = [join(sandbox.folder, 'shallow'), join(sandbox.folder, 'lost')];
    for (const clone of [shallow, lost])
      runGit(sandbox.folder, 'clone', '--quiet', '--depth', '1', `file://${own}`, clone);
    expect(await listed(sandbox, shallow)).toEqual([id]);
    runGit(lost, 'remote', 'remove', 'origin');
    expect(await listed(sandbox, lost)).toEqual([]);
  });

  it('is recognised by a first commit that was made after it was first seen', async () => {
    const sandbox = makeSandbox();
    const [own, moved] = [join(sandbox.folder, 'own'), join(sandbox.folder, 'moved')];
    mkdirSync(own);
    runGit(own, 'init', '--quiet');
    const ids = [await workIn(sandbox, own, 3)];
    initialise(own);
    ids.unshift(await workIn(sandbox, own, 4));
    renameSync(own, moved);
    expect(await listed(sandbox, moved)).toEqual(ids);
  });
});

describe('a session whose last folder is gone', () => {
  it('belongs to the project of its repository', async () => {
    const sandbox = makeSandbox();
    initialise(sandbox.project);
    const gone = join(sandbox.project, 'packages', 'removed');
    const id = await workIn(sandbox, gone);
    expect(await listed(sandbox, sandbox.project)).toEqual([id]);
    expect(await resumed(sandbox, sandbox.project)).toBe(id);
  });

  it('belongs to it also if it was a worktree beside it that is removed', async () => {
    const sandbox = makeSandbox();
    initialise(sandbox.project);
    const worktree = join(sandbox.folder, 'project-feature');
    runGit(sandbox.project, 'worktree', 'add', '--quiet', worktree);
    const first = await workIn(sandbox, worktree, 3);
    runGit(sandbox.project, 'worktree', 'remove', worktree);
    const second = await workIn(sandbox, worktree, 4);
    expect(await listed(sandbox, sandbox.project)).toEqual([second, first]);
  });
});
