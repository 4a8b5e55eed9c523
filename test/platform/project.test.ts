import { chownSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeMachine } from '../../src/platform/machine.ts';
import { identifyProject } from '../../src/platform/project.ts';
import { createSandbox, type Sandbox } from './repositories.ts';

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = createSandbox();
});

afterEach(() => {
  sandbox.remove();
});

function identify(folder: string) {
  return identifyProject(folder, sandbox.machine);
}

function createWithRemote(name: string, url: string): string {
  const root = sandbox.createRepository(name);
  sandbox.git(root, 'remote', 'add', 'origin', url);
  return root;
}

describe('a project in git', () => {
  it('has an id, a name, a root, a remote and a worktree', () => {
    const root = createWithRemote('checkout', 'git@example.org:owner/tool.git');
    expect(identify(root)).toEqual({
      id: expect.stringMatching(/^p-[0-9a-hjkmnp-tv-z]{16}$/),
      name: 'tool',
      root,
      remote: 'example.org/owner/tool',
      worktree: expect.stringMatching(/^w-[0-9a-hjkmnp-tv-z]{8}$/),
      git: 'present',
    });
  });

  it('has stable ids, since stores use them as folder names', () => {
    const root = createWithRemote('checkout', 'https://example.org/owner/tool');
    expect(identify(root).id).toBe('p-6gh9ywcvxzax6xvp');
  });

  it('is the same from a subfolder, through a link and by a relative path', () => {
    const root = sandbox.createRepository('repo');
    const sub = sandbox.createFolder('repo/src/deep');
    const link = join(sandbox.folder, 'link');
    symlinkSync(root, link);
    const whole = identify(root);
    for (const folder of [sub, link, join(link, 'src'), 'repo', './link/src/../src/deep']) {
      expect(identify(folder)).toEqual(whole);
    }
  });

  it('is the same from a linked worktree, which is a worktree of its own', () => {
    for (const root of [sandbox.createRepository('plain'), createWithRemote('hosted', 'https://example.org/a/b')]) {
      const linked = `${root}-linked`;
      sandbox.git(root, 'worktree', 'add', '--quiet', linked);
      const main = identify(root);
      const other = identify(linked);
      expect(other).toEqual({ ...main, root: linked, worktree: expect.stringMatching(/^w-/) });
      expect(other.worktree).not.toBe(main.worktree);
    }
  });

  it('resolves a relative remote against the main root, whichever worktree asks', () => {
    const root = createWithRemote('deep/er/repo', '../../../origin.git');
    const linked = join(sandbox.folder, 'linked');
    sandbox.git(root, 'worktree', 'add', '--quiet', linked);
    expect(identify(root).remote).toBe(join(sandbox.folder, 'origin.git'));
    expect(identify(linked).id).toBe(identify(root).id);
  });

  it('keeps its id when moved, if it has a remote, and gets another if not', () => {
    const hosted = createWithRemote('hosted', 'https://example.org/a/b');
    const plain = sandbox.createRepository('plain');
    const [hostedId, plainId] = [identify(hosted).id, identify(plain).id];
    renameSync(hosted, `${hosted}-moved`);
    renameSync(plain, `${plain}-moved`);
    expect(identify(`${hosted}-moved`).id).toBe(hostedId);
    expect(identify(`${plain}-moved`).id).not.toBe(plainId);
  });

  it('without a remote is named by its main root', () => {
    const root = sandbox.createRepository('my project');
    expect(identify(root)).toMatchObject({ name: 'my project', root, remote: null, git: 'present' });
  });

  it('prefers the remote origin, else the first by name', () => {
    const root = sandbox.createRepository('repo');
    sandbox.git(root, 'remote', 'add', 'zeta', 'https://example.org/a/zeta');
    sandbox.git(root, 'remote', 'add', 'alpha', 'https://example.org/a/alpha');
    expect(identify(root).name).toBe('alpha');
    sandbox.git(root, 'remote', 'add', 'origin', 'https://example.org/a/main');
    sandbox.git(root, 'remote', 'set-url', '--add', 'origin', 'https://example.org/a/mirror');
    expect(identify(root).name).toBe('main');
  });

  it('skips remotes without a location', () => {
    const root = createWithRemote('repo', 'ext::sh -c evil');
    expect(identify(root).remote).toBeNull();
    sandbox.git(root, 'remote', 'add', 'backup', 'https://example.org/a/b');
    expect(identify(root).remote).toBe('example.org/a/b');
  });

  it('never shows the credentials of its remote', () => {
    const root = createWithRemote('repo', 'https://user:s3cret@example.org/a/b.git?token=s3cret');
    const project = identify(root);
    expect(project.remote).toBe('example.org/a/b');
    expect(JSON.stringify(project)).not.toContain('s3cret');
  });

  it('is found in a repository without commits', () => {
    const root = sandbox.createFolder('new');
    sandbox.git(root, 'init', '--quiet');
    expect(identify(root)).toMatchObject({ root, git: 'present' });
  });

  it('is found from inside its git dir', () => {
    const root = sandbox.createRepository('repo');
    expect(identify(join(root, '.git', 'refs'))).toMatchObject({
      id: identify(root).id,
      root,
      git: 'present',
    });
  });

  it('is a bare repository by itself, with the same id from its worktrees', () => {
    const source = sandbox.createRepository('source');
    const bare = join(sandbox.folder, 'bare.git');
    sandbox.git(sandbox.folder, 'clone', '--quiet', '--bare', source, bare);
    sandbox.git(bare, 'remote', 'remove', 'origin');
    sandbox.git(bare, 'worktree', 'add', '--quiet', join(sandbox.folder, 'tree'), 'main');
    expect(identify(bare)).toMatchObject({ name: 'bare', root: bare, git: 'present' });
    expect(identify(join(bare, 'refs'))).toEqual(identify(bare));
    expect(identify('tree')).toMatchObject({ id: identify(bare).id, name: 'bare' });
  });

  it('has submodules that are projects of their own, each by itself', () => {
    const outer = sandbox.createRepository('outer');
    const library = sandbox.createRepository('library');
    for (const name of ['one', 'two']) {
      sandbox.git(outer, 'submodule', '--quiet', 'add', library, name);
      sandbox.git(join(outer, name), 'remote', 'remove', 'origin');
    }
    const projects = ['', 'one', 'two'].map((name) => identify(join(outer, name)));
    expect(new Set(projects.map(({ id }) => id)).size).toBe(3);
    expect(projects.map(({ name }) => name)).toEqual(['outer', 'one', 'two']);
    expect(projects.map(({ root }) => root)).toEqual([outer, join(outer, 'one'), join(outer, 'two')]);
  });

  it('is not replaced by files in it that look like a bare repository with another remote', () => {
    const root = createWithRemote('repo', 'https://example.org/honest/one');
    const planted = join(root, 'vendor', 'planted');
    sandbox.git(root, 'init', '--quiet', '--bare', planted);
    sandbox.git(planted, 'remote', 'add', 'origin', 'https://example.org/victim/two');
    expect(identify(planted)).toEqual(identify(root));
    sandbox.git(planted, 'config', 'core.bare', 'false');
    sandbox.git(planted, 'config', 'core.worktree', '..');
    expect(identify(join(planted, 'refs'))).toEqual(identify(root));
  });

  it('ignores a configuration that names another folder as the worktree', () => {
    const root = sandbox.createRepository('repo');
    for (const elsewhere of [sandbox.folder, sandbox.env.HOME ?? '']) {
      sandbox.git(root, 'config', 'core.worktree', elsewhere);
      expect(identify(root)).toMatchObject({ root, git: 'present' });
    }
  });

  it('keeps a root with a line feed in its name, but not in the name of the project', () => {
    const root = sandbox.createRepository('two\nlines\u202e\u0007');
    expect(identify(root)).toMatchObject({ root, name: 'two lines', git: 'present' });
  });

  it('ignores GIT_DIR and other variables', () => {
    const root = sandbox.createRepository('repo');
    const other = createWithRemote('other', 'https://example.org/other/one');
    const env = {
      ...sandbox.env,
      GIT_DIR: join(other, '.git'),
      GIT_WORK_TREE: other,
      GIT_COMMON_DIR: join(other, '.git'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'remote.origin.url',
      GIT_CONFIG_VALUE_0: 'https://example.org/forged/one',
    };
    expect(identifyProject(root, describeMachine(env, sandbox.folder))).toEqual(identify(root));
  });
});

describe('the name of a project', () => {
  it('has at most 100 characters, and no half character', () => {
    const name = identify(createWithRemote('long', `https://example.org/a/${'𝔸'.repeat(150)}`)).name;
    expect(name).toBe('𝔸'.repeat(100));
  });

  it('is never empty', () => {
    expect(identify('/').name).toBe('project');
    expect(identify(sandbox.createFolder('\u200b')).name).toBe('project');
  });
});

describe('a project outside git', () => {
  it('is the real folder', () => {
    const folder = sandbox.createFolder('plain');
    symlinkSync(folder, join(sandbox.folder, 'link'));
    expect(identify(folder)).toEqual({
      id: expect.stringMatching(/^p-[0-9a-hjkmnp-tv-z]{16}$/),
      name: 'plain',
      root: folder,
      remote: null,
      worktree: null,
      git: 'absent',
    });
    expect(identify('link')).toEqual(identify(folder));
    expect(identify(sandbox.createFolder('plain/sub')).id).not.toBe(identify(folder).id);
  });

  it('is the folder also when git is not installed, and says so', () => {
    const root = createWithRemote('repo', 'https://example.org/a/b');
    const empty = sandbox.createFolder('empty');
    for (const PATH of [empty, '', undefined]) {
      const machine = describeMachine({ ...sandbox.env, PATH }, sandbox.folder);
      expect(identifyProject(root, machine)).toMatchObject({
        name: 'repo',
        root,
        remote: null,
        worktree: null,
        git: 'missing',
      });
    }
  });

  it.each([
    ['a pointer to a git dir that is gone', 'gitdir: /no/such/dir\n'],
    ['a .git file that is not a pointer', 'nonsense'],
  ])('is the folder when git cannot read the repository: %s', (_case, content) => {
    sandbox.write('broken/.git', content);
    const root = join(sandbox.folder, 'broken');
    expect(identify(root)).toMatchObject({ root, remote: null, worktree: null, git: 'refused' });
  });

  it('is the folder when the configuration of the repository is broken', () => {
    const root = sandbox.createRepository('repo');
    sandbox.write('repo/.git/config', '[core\nbroken');
    expect(identify(root)).toMatchObject({ root, git: 'refused' });
  });

  it.skipIf(process.getuid?.() !== 0)('is the folder when the repository belongs to another user', () => {
    const root = createWithRemote('repo', 'https://example.org/a/b');
    chownSync(root, 12345, 12345);
    chownSync(join(root, '.git'), 12345, 12345);
    expect(identify(root)).toMatchObject({ root, remote: null, git: 'refused' });
  });

  it('is refused with a code and a hint when there is no such folder', () => {
    const file = sandbox.write('file');
    mkdirSync(join(sandbox.folder, 'there'));
    symlinkSync(join(sandbox.folder, 'nowhere'), join(sandbox.folder, 'dangling'));
    symlinkSync('loop', join(sandbox.folder, 'loop'));
    for (const folder of ['gone', 'there/gone', file, 'file/below', 'dangling', 'loop', 'a\0b', 'x'.repeat(5000)]) {
      expect(() => identify(folder)).toThrow(
        expect.objectContaining({
          code: 'HANDOVER_PROJECT_MISSING',
          exitStatus: 66,
          hint: expect.any(String),
        }),
      );
    }
  });
});
