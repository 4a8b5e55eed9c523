import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { revealControls } from '../../src/model/text.ts';
import { GitFacts } from '../../src/model/workspace.ts';
import { readGitFacts } from '../../src/platform/git-state.ts';
import { describeMachine } from '../../src/platform/machine.ts';
import { attemptGit, commitAll, createSandbox, type Sandbox } from './repositories.ts';

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = createSandbox();
});

afterEach(() => {
  sandbox.remove();
});

/** The facts of a folder, which must also be what a handover may hold. */
function read(root: string, options: { timeoutMs?: number } = {}): GitFacts {
  return v.parse(GitFacts, readGitFacts(root, sandbox.machine, options));
}

/** Two branches that change the same line; `main` is checked out. */
function createDivided(name: string): string {
  const root = sandbox.createRepository(name);
  sandbox.git(root, 'checkout', '--quiet', '-b', 'other');
  sandbox.write(`${name}/tracked.txt`, 'theirs\n');
  commitAll(sandbox, root, 'Theirs');
  sandbox.git(root, 'checkout', '--quiet', 'main');
  sandbox.write(`${name}/tracked.txt`, 'ours\n');
  commitAll(sandbox, root, 'Ours');
  return root;
}

describe('the branch in the state of git', () => {
  it('is named, with its head and no upstream, in a clean repository', () => {
    const root = sandbox.createRepository('repo');
    expect(read(root)).toEqual({
      branch: 'main',
      head: sandbox.git(root, 'rev-parse', 'HEAD').trim(),
      upstream: null,
      ahead: null,
      behind: null,
      operation: null,
      staged: [],
      unstaged: [],
      untracked: [],
      conflicted: [],
      changed_total: 0,
      changed_cut: false,
      commits: [
        {
          hash: sandbox.git(root, 'rev-parse', 'HEAD').trim(),
          at: new Date(Number(sandbox.git(root, 'log', '--format=%ct')) * 1000).toISOString(),
          subject: 'First',
        },
      ],
    });
  });

  it('is null when the head is detached', () => {
    const root = sandbox.createRepository('repo');
    sandbox.git(root, 'checkout', '--quiet', '--detach');
    expect(read(root)).toMatchObject({ branch: null, head: expect.stringMatching(/^[0-9a-f]{40}$/) });
  });

  it('is known before the first commit, which has no head', () => {
    const root = sandbox.createFolder('new');
    sandbox.git(root, 'init', '--quiet', '--initial-branch=trunk');
    sandbox.write('new/file');
    expect(read(root)).toMatchObject({ branch: 'trunk', head: null, untracked: ['file'], commits: [] });
  });

  it('has its distance ahead of and behind its upstream', () => {
    const source = sandbox.createRepository('source');
    const root = join(sandbox.folder, 'clone');
    sandbox.git(sandbox.folder, 'clone', '--quiet', source, root);
    for (const name of ['one', 'two']) commitAll(sandbox, root, name);
    commitAll(sandbox, source, 'upstream');
    sandbox.git(root, 'fetch', '--quiet');
    sandbox.git(root, 'config', 'status.aheadBehind', 'false');
    expect(read(root)).toMatchObject({ upstream: 'origin/main', ahead: 2, behind: 1 });
    sandbox.git(root, 'update-ref', '-d', 'refs/remotes/origin/main');
    expect(read(root)).toMatchObject({ upstream: 'origin/main', ahead: null, behind: null });
  });

  it('is that of the linked worktree one is in', () => {
    const root = sandbox.createRepository('repo');
    const linked = join(sandbox.folder, 'linked');
    sandbox.git(root, 'worktree', 'add', '--quiet', '-b', 'side', linked);
    sandbox.write('linked/new');
    expect(read(linked)).toMatchObject({ branch: 'side', untracked: ['new'] });
    expect(read(root)).toMatchObject({ branch: 'main', untracked: [] });
  });
});

describe('changed files in the state of git', () => {
  it('are listed as staged, unstaged, untracked or conflicting', () => {
    const root = sandbox.createRepository('repo');
    for (const name of ['gone', 'staged', 'both']) sandbox.write(`repo/${name}`, `${name}\n`);
    sandbox.write('repo/old name', 'a line that stays\n'.repeat(20));
    commitAll(sandbox, root, 'Files');
    sandbox.git(root, 'mv', 'old name', 'new name');
    sandbox.write('repo/staged', 'changed\n');
    sandbox.write('repo/both', 'changed\n');
    sandbox.write('repo/added', 'added\n');
    sandbox.git(root, 'add', 'staged', 'both', 'added');
    sandbox.write('repo/both', 'changed again\n');
    rmSync(join(root, 'gone'));
    sandbox.write('repo/folder/inside');
    sandbox.git(root, 'config', 'status.renames', 'false');
    sandbox.git(root, 'config', 'status.showUntrackedFiles', 'no');
    expect(read(root)).toMatchObject({
      staged: [
        { path: 'added', change: 'added' },
        { path: 'both', change: 'modified' },
        { path: 'new name', change: 'renamed', from: 'old name' },
        { path: 'staged', change: 'modified' },
      ],
      unstaged: [
        { path: 'both', change: 'modified' },
        { path: 'gone', change: 'deleted' },
      ],
      untracked: ['folder/'],
      changed_total: 6,
      changed_cut: false,
    });
  });

  it('have paths from the root, also when asked from a subfolder', () => {
    const root = sandbox.createRepository('repo');
    sandbox.write('repo/sub/tracked', 'x');
    commitAll(sandbox, root, 'Sub');
    sandbox.write('repo/sub/new');
    sandbox.git(root, 'config', 'status.relativePaths', 'true');
    expect(read(join(root, 'sub')).untracked).toEqual(['sub/new']);
  });

  it('do not include ignored ones', () => {
    const root = sandbox.createRepository('repo');
    sandbox.write('repo/.gitignore', 'built/\n*.log\n');
    commitAll(sandbox, root, 'Ignore');
    sandbox.write('repo/built/a');
    sandbox.write('repo/b.log');
    sandbox.write('repo/kept');
    expect(read(root)).toMatchObject({ untracked: ['kept'], changed_total: 1 });
  });

  it('are counted all and listed up to 500', () => {
    const root = sandbox.createRepository('repo');
    for (let i = 0; i < 600; i++) sandbox.write(`repo/file-${i}`);
    sandbox.write('repo/tracked.txt', 'changed\n');
    const facts = read(root);
    expect(facts).toMatchObject({
      changed_total: 601,
      changed_cut: true,
      unstaged: [{ path: 'tracked.txt' }],
    });
    expect(facts.untracked).toHaveLength(499);
  });

  it.skipIf(process.platform !== 'linux')(
    'show odd names with signs for what is not seen in them, and names that are not UTF-8',
    () => {
      const root = sandbox.createRepository('repo');
      const names = [
        '-rf',
        'a\nb',
        'quote"s\'',
        'tab\there',
        'über 日本 🎉',
        '\\back',
        ' lead',
        '\u001b[31mred',
        'to\u202etxt',
      ];
      for (const name of names) sandbox.write(`repo/${name}`);
      writeFileSync(Buffer.concat([Buffer.from(`${root}/raw-`), Buffer.from([0xff, 0xfe])]), '');
      const { untracked } = read(root);
      expect(new Set(untracked)).toEqual(new Set([...names.map(revealControls), 'to\ufffdtxt', 'raw-\ufffd\ufffd']));
    },
  );

  it('include a submodule at another commit, but not what is changed inside it', () => {
    const root = sandbox.createRepository('repo');
    sandbox.git(root, 'submodule', '--quiet', 'add', sandbox.createRepository('library'), 'sub');
    commitAll(sandbox, root, 'Submodule');
    sandbox.write('repo/sub/tracked.txt', 'changed\n');
    expect(read(root).unstaged).toEqual([]);
    commitAll(sandbox, join(root, 'sub'), 'Elsewhere');
    expect(read(root).unstaged).toEqual([{ path: 'sub', change: 'modified' }]);
  });

  it.skipIf(process.platform === 'win32')(
    'are unknown when git does not list them in time, and the rest is not',
    () => {
      const root = sandbox.createRepository('repo');
      sandbox.write('repo/deep/untracked');
      execFileSync('mkfifo', [join(root, 'deep', '.gitignore')]);
      sandbox.write('repo/.git/MERGE_HEAD', `${sandbox.git(root, 'rev-parse', 'HEAD')}`);
      expect(read(root, { timeoutMs: 2000 })).toMatchObject({
        branch: 'main',
        head: sandbox.git(root, 'rev-parse', 'HEAD').trim(),
        operation: 'merge',
        untracked: [],
        changed_total: null,
        changed_cut: true,
        commits: [{ subject: 'First' }],
      });
    },
  );

  it('are unknown when the index is damaged, while the rest is known', () => {
    const root = sandbox.createRepository('repo');
    sandbox.write('repo/.git/index', 'not an index');
    expect(read(root)).toMatchObject({
      branch: 'main',
      changed_total: null,
      commits: [{ subject: 'First' }],
    });
    sandbox.write('repo/.git/HEAD', sandbox.git(root, 'rev-parse', 'HEAD'));
    expect(read(root)).toMatchObject({ branch: null, changed_total: null });
  });
});

describe('an operation in progress in the state of git', () => {
  it('is a merge, with its conflicts', () => {
    const root = createDivided('repo');
    expect(attemptGit(sandbox, root, 'merge', '--quiet', 'other')).toBe(false);
    expect(read(root)).toMatchObject({ operation: 'merge', conflicted: ['tracked.txt'], changed_total: 1 });
  });

  it.each(['--merge', '--apply'])('is a rebase by %s', (kind) => {
    const root = createDivided('repo');
    expect(attemptGit(sandbox, root, 'rebase', '--quiet', kind, 'other')).toBe(false);
    expect(read(root)).toMatchObject({ operation: 'rebase', branch: null, conflicted: ['tracked.txt'] });
  });

  it('is a rebase also in a linked worktree, and not in the main one', () => {
    const root = createDivided('repo');
    const linked = join(sandbox.folder, 'linked');
    sandbox.git(root, 'worktree', 'add', '--quiet', '-b', 'third', linked);
    expect(attemptGit(sandbox, linked, 'rebase', '--quiet', 'other')).toBe(false);
    expect(read(linked).operation).toBe('rebase');
    expect(read(root).operation).toBeNull();
  });

  it('is a cherry-pick', () => {
    const root = createDivided('repo');
    expect(attemptGit(sandbox, root, 'cherry-pick', 'other')).toBe(false);
    expect(read(root).operation).toBe('cherry-pick');
  });

  it('is a revert', () => {
    const root = createDivided('repo');
    sandbox.write('repo/tracked.txt', 'later\n');
    commitAll(sandbox, root, 'Later');
    expect(attemptGit(sandbox, root, 'revert', '--no-edit', 'HEAD~1')).toBe(false);
    expect(read(root).operation).toBe('revert');
  });

  it('is the application of a mailed patch', () => {
    const root = createDivided('repo');
    const patch = sandbox.write('patch', sandbox.git(root, 'format-patch', '--stdout', '-1', 'other'));
    expect(attemptGit(sandbox, root, 'am', '--quiet', patch)).toBe(false);
    expect(read(root).operation).toBe('am');
  });

  it('is a bisection', () => {
    const root = createDivided('repo');
    sandbox.git(root, 'bisect', 'start');
    expect(read(root).operation).toBe('bisect');
  });
});

describe('commits in the state of git', () => {
  it('are the last ten, newest first', () => {
    const root = sandbox.createRepository('repo');
    for (let i = 1; i <= 12; i++) commitAll(sandbox, root, `Commit ${i}\n\nWith a body.`);
    const { commits, head } = read(root);
    expect(commits.map(({ subject }) => subject)).toEqual(Array.from({ length: 10 }, (_, i) => `Commit ${12 - i}`));
    expect(commits[0]?.hash).toBe(head);
  });

  it('have subjects without control characters, of at most 200 characters', () => {
    const root = sandbox.createRepository('repo');
    commitAll(sandbox, root, `\u001b[31mred\u001b[0m \u202eback\u0007`);
    commitAll(sandbox, root, '🎉'.repeat(300));
    expect(read(root).commits.map(({ subject }) => subject)).toEqual(['🎉'.repeat(200), 'red back', 'First']);
  });

  it('have times in UTC, also out of range', () => {
    const root = sandbox.createRepository('repo');
    const template = sandbox.git(root, 'cat-file', 'commit', 'HEAD');
    const at = (time: string): string | undefined => {
      const file = sandbox.write('commit', template.replace(/^(committer .*>) .*$/m, `$1 ${time}`));
      const hash = sandbox.git(root, 'hash-object', '-t', 'commit', '-w', '--literally', file).trim();
      sandbox.git(root, 'reset', '--quiet', hash);
      return read(root).commits[0]?.at;
    };
    expect(at('1700000000 +0530')).toBe('2023-11-14T22:13:20.000Z');
    expect(at('99999999999999 +0000')).toBe('9999-12-31T23:59:59.999Z');
  });
});

describe('the state of git is missing', () => {
  it('outside git, in a bare repository, and when git cannot read the repository', () => {
    const bare = sandbox.createFolder('bare.git');
    sandbox.git(bare, 'init', '--quiet', '--bare');
    sandbox.write('broken/.git', 'gitdir: /no/such/dir\n');
    for (const folder of [sandbox.createFolder('plain'), bare, join(sandbox.folder, 'broken')]) {
      expect(readGitFacts(folder, sandbox.machine)).toBeNull();
    }
  });

  it('when git is not installed', () => {
    const root = sandbox.createRepository('repo');
    const machine = describeMachine({ ...sandbox.env, PATH: sandbox.createFolder('empty') }, root);
    expect(readGitFacts(root, machine)).toBeNull();
  });

  it('with a coded error when the folder is missing', () => {
    expect(() => readGitFacts(join(sandbox.folder, 'gone'), sandbox.machine)).toThrow(
      expect.objectContaining({ code: 'HANDOVER_PROJECT_MISSING' }),
    );
  });
});
