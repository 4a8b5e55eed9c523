import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runGit } from '../../support/cli.ts';
import {
  codeOf,
  configure,
  type GitSandbox,
  logOf,
  makeGitSandbox,
  publish,
  readIn,
  readRemote,
  writeIn,
} from '../../support/publishing.ts';

const NOTE = 'memory/layer1/2026-11/work-2026-11-15.md';

/** All that git starts in the repository that it works in. */
const HOOKS = [
  ...['applypatch-msg', 'pre-applypatch', 'post-applypatch', 'pre-commit', 'pre-merge-commit', 'prepare-commit-msg'],
  ...['commit-msg', 'post-commit', 'pre-rebase', 'post-checkout', 'post-merge', 'pre-push', 'reference-transaction'],
  ...['push-to-checkout', 'pre-auto-gc', 'post-rewrite', 'fsmonitor-watchman', 'post-index-change'],
];

function status(sandbox: GitSandbox): string {
  return runGit(sandbox.project, 'status', '--porcelain');
}

describe('the commit of a push', () => {
  it('contains the memory alone, and staged changes stay staged', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, NOTE, 'a note\n');
    writeIn(sandbox.project, 'staged.txt', 'staged\n');
    runGit(sandbox.project, 'add', 'staged.txt');
    writeIn(sandbox.project, 'staged.txt', 'edited after that\n');
    writeIn(sandbox.project, 'code.txt', 'edited\n');
    writeIn(sandbox.project, 'untracked.txt', 'untracked\n');
    const before = status(sandbox).replace(/\?\? memory\/\n/, '');
    await publish(sandbox);
    expect(status(sandbox)).toBe(before);
    expect(runGit(sandbox.project, 'show', ':staged.txt')).toBe('staged\n');
    expect([...readRemote(sandbox.remote).keys()]).toEqual(['code.txt', NOTE]);
    expect(readRemote(sandbox.remote).get('code.txt')).toBe('first\n');
  });

  it('leaves a refreshed index, so that scripts see no change', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, NOTE, 'a note\n');
    await publish(sandbox);
    expect(runGit(sandbox.project, 'diff-files', '--name-only')).toBe('');
    expect(runGit(sandbox.project, 'diff-index', '--name-only', 'HEAD')).toBe('');
  });

  it('replaces a staged older version of the memory', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, NOTE, 'first\n');
    runGit(sandbox.project, 'add', NOTE);
    writeIn(sandbox.project, NOTE, 'second\n');
    await publish(sandbox);
    expect(status(sandbox)).toBe('');
    expect(readRemote(sandbox.remote).get(NOTE)).toBe('second\n');
  });

  it('follows deletions inside memory, but not of memory as a whole, nor of hidden files', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, NOTE, 'a note\n');
    writeIn(sandbox.project, 'memory/layer2/current-state.md', 'state\n');
    writeIn(sandbox.project, 'memory/.gitkeep', '');
    runGit(sandbox.project, 'add', 'memory/.gitkeep');
    runGit(sandbox.project, 'commit', '--quiet', '--message', 'Keep');
    runGit(sandbox.project, 'push', '--quiet');
    await publish(sandbox);
    rmSync(join(sandbox.project, NOTE));
    expect((await publish(sandbox)).changes).toEqual([{ path: NOTE, change: 'deleted', bytes: 0 }]);
    expect([...readRemote(sandbox.remote).keys()].sort()).toEqual([
      'code.txt',
      'memory/.gitkeep',
      'memory/layer2/current-state.md',
    ]);
    expect(status(sandbox)).toBe('');
    rmSync(join(sandbox.project, 'memory'), { recursive: true });
    expect((await publish(sandbox)).outcome).toBe('nothing new');
  });

  it('leaves out what a sparse checkout put aside and what git ignores', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, NOTE, 'a note\n');
    writeIn(sandbox.project, 'memory/layer2/current-state.md', 'state\n');
    await publish(sandbox);
    runGit(sandbox.project, 'update-index', '--skip-worktree', NOTE);
    rmSync(join(sandbox.project, NOTE));
    writeIn(sandbox.project, '.git/info/exclude', 'memory/layer3\n');
    writeIn(sandbox.project, 'memory/layer3/2026-10-work-archive.md', 'old\n');
    const { outcome, notes } = await publish(sandbox);
    expect(outcome).toBe('nothing new');
    expect(notes).toEqual(['memory/layer3/2026-10-work-archive.md is not published: git ignores it']);
    expect(readRemote(sandbox.remote).has(NOTE)).toBe(true);
  });

  it('contains the requested subfolder of the repository', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, 'packages/a/HANDOFF.md', 'of a\n');
    writeIn(sandbox.project, 'HANDOFF.md', 'of all\n');
    await publish(sandbox, { folder: join(sandbox.project, 'packages/a') });
    expect([...readRemote(sandbox.remote).keys()]).toEqual(['code.txt', 'packages/a/HANDOFF.md']);
  });

  it('contains files of any name, but none outside the project', async () => {
    const sandbox = makeGitSandbox();
    const names = ['-x', 'a "b"', 'tab\there', 'line\nfeed', 'über 😀', "it's"];
    for (const name of names) writeIn(sandbox.project, `memory/layer1/2026-11/${name}.md`, name);
    await publish(sandbox);
    expect([...readRemote(sandbox.remote).values()].sort()).toEqual(['first\n', ...names].sort());
    expect(status(sandbox)).toBe('');
    for (const path of ['../x', '/etc', '.git', 'memory/../..'])
      expect(await codeOf(publish(sandbox, { paths: [path] }))).toBe('HANDOVER_PATH_UNSAFE');
  });

  it('has the user as author and a memory message, and runs no commit hook', async () => {
    const sandbox = makeGitSandbox();
    for (const name of ['pre-commit', 'commit-msg', 'post-commit', 'prepare-commit-msg']) {
      writeIn(sandbox.project, `.git/hooks/${name}`, '#!/bin/sh\nexit 1\n');
      chmodSync(join(sandbox.project, '.git/hooks', name), 0o755);
    }
    writeIn(sandbox.project, NOTE, 'a note\n');
    await publish(sandbox);
    expect(runGit(sandbox.remote, 'log', '-1', '--format=%an <%ae> %s', 'work')).toBe(
      'Ada <ada@example.invalid> handover: memory of app\n',
    );
  });

  it('works in a repository without a commit, in a worktree and in one with SHA-256', async () => {
    const sandbox = makeGitSandbox('git.push = false\n');
    const fresh = join(sandbox.folder, 'fresh');
    for (const format of ['sha1', 'sha256']) {
      runGit(sandbox.folder, 'init', '--quiet', `--object-format=${format}`, `${fresh}-${format}`);
      writeIn(`${fresh}-${format}`, NOTE, 'a note\n');
      expect((await publish(sandbox, { folder: `${fresh}-${format}` })).outcome).toBe('published');
      rmSync(join(`${fresh}-${format}`, NOTE));
      expect((await publish(sandbox, { folder: `${fresh}-${format}` })).outcome).toBe('published');
      expect(runGit(`${fresh}-${format}`, 'status', '--porcelain')).toBe('');
      expect(logOf(`${fresh}-${format}`, 'HEAD')).toHaveLength(2);
    }
    const tree = join(sandbox.folder, 'tree');
    runGit(sandbox.project, 'worktree', 'add', '--quiet', '-b', 'side', tree);
    writeIn(tree, NOTE, 'a note\n');
    await publish(sandbox, { folder: tree });
    expect(runGit(tree, 'status', '--porcelain')).toBe('');
    expect(logOf(sandbox.project, 'side')).toHaveLength(2);
    expect(logOf(sandbox.project, 'work')).toHaveLength(1);
  });
});

describe('a push that is not possible changes nothing and says why', () => {
  const tips = (sandbox: GitSandbox): string =>
    runGit(sandbox.project, 'for-each-ref', '--format=%(refname) %(objectname)');

  const refuse = async (sandbox: GitSandbox): Promise<unknown> => {
    writeIn(sandbox.project, NOTE, 'a note\n');
    const before = [tips(sandbox), status(sandbox)];
    const code = await codeOf(publish(sandbox));
    expect([tips(sandbox), status(sandbox)]).toEqual(before);
    return code;
  };

  it('when no branch is checked out', async () => {
    const sandbox = makeGitSandbox();
    runGit(sandbox.project, 'switch', '--quiet', '--detach');
    expect(await refuse(sandbox)).toBe('HANDOVER_GIT_DETACHED');
  });

  it.each(['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'rebase-merge/head-name'])('when %s exists', async (sign) => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, `.git/${sign}`, `${runGit(sandbox.project, 'rev-parse', 'HEAD')}`);
    expect(await refuse(sandbox)).toBe('HANDOVER_GIT_BUSY');
  });

  it('when another git holds the index', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, NOTE, 'a note\n');
    writeIn(sandbox.project, '.git/index.lock', '');
    expect(await codeOf(publish(sandbox))).toBe('HANDOVER_GIT_BUSY');
    expect(existsSync(join(sandbox.project, '.git/index.lock'))).toBe(true);
    rmSync(join(sandbox.project, '.git/index.lock'));
    expect((await publish(sandbox)).outcome).toBe('published');
  });

  it('when there is no upstream, no such remote, or no remote', async () => {
    const sandbox = makeGitSandbox();
    runGit(sandbox.project, 'branch', '--unset-upstream');
    expect(await refuse(sandbox)).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
    configure(sandbox, '[publish]\nbackend = "git"\ngit.remote = "elsewhere"\n');
    expect(await refuse(sandbox)).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
    runGit(sandbox.project, 'remote', 'remove', 'origin');
    configure(sandbox, '[publish]\nbackend = "git"\n');
    expect(await refuse(sandbox)).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
  });

  it('when it is no repository', async () => {
    const sandbox = makeGitSandbox();
    rmSync(join(sandbox.project, '.git'), { recursive: true });
    writeIn(sandbox.project, NOTE, 'a note\n');
    expect(await codeOf(publish(sandbox))).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
  });

  it('when the branch for memory is checked out', async () => {
    const sandbox = makeGitSandbox('git.ref = "refs/heads/work"\n');
    expect(await refuse(sandbox)).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
  });
});

describe('a push of the memory', () => {
  it('pushes no commit of the user unless asked', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, 'code.txt', 'not to be seen yet\n');
    runGit(sandbox.project, 'commit', '--quiet', '--all', '--message', 'Mine');
    writeIn(sandbox.project, NOTE, 'a note\n');
    expect((await publish(sandbox, { dryRun: true })).notes.join()).toContain('it will be refused: a commit of yours');
    expect(await codeOf(publish(sandbox))).toBe('HANDOVER_PUBLISH_UNASKED');
    expect(logOf(sandbox.remote, 'work')).toEqual(['First']);
    configure(sandbox, '[publish]\nbackend = "git"\ngit.own_commits = "push"\n');
    expect((await publish(sandbox)).outcome).toBe('published');
    expect(logOf(sandbox.remote, 'work')).toEqual(['handover: memory of app', 'Mine', 'First']);
  });

  const commit = (sandbox: GitSandbox, ...args: string[]): string =>
    runGit(sandbox.project, 'commit', '--quiet', '--message', 'Mine', ...args);

  it.each<[string, (sandbox: GitSandbox) => unknown]>([
    ['that is empty', (sandbox) => commit(sandbox, '--allow-empty')],
    [
      'that holds memory alone, with its secrets',
      (sandbox) => {
        writeIn(sandbox.project, NOTE, `ghp_${'a1'.repeat(18)}\n`);
        runGit(sandbox.project, 'add', NOTE);
        return commit(sandbox);
      },
    ],
    [
      'that was made of a commit of memory',
      async (sandbox) => {
        configure(sandbox, '[publish]\nbackend = "git"\ngit.push = false\n');
        writeIn(sandbox.project, NOTE, 'an earlier note\n');
        await publish(sandbox);
        configure(sandbox, '[publish]\nbackend = "git"\n');
        writeIn(sandbox.project, 'code.txt', 'mine\n');
        return runGit(sandbox.project, 'commit', '--quiet', '--all', '--amend', '--no-edit');
      },
    ],
  ])('pushes no commit of the user %s', async (_, make) => {
    const sandbox = makeGitSandbox();
    await make(sandbox);
    writeIn(sandbox.project, NOTE, 'a note\n');
    expect(await codeOf(publish(sandbox))).toBe('HANDOVER_PUBLISH_UNASKED');
    expect(logOf(sandbox.remote, 'work')).toEqual(['First']);
  });

  it('is included in the next push of the user', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, 'code.txt', 'mine\n');
    runGit(sandbox.project, 'commit', '--quiet', '--all', '--message', 'Mine');
    writeIn(sandbox.project, NOTE, 'a note\n');
    await codeOf(publish(sandbox));
    runGit(sandbox.project, 'push', '--quiet');
    expect((await publish(sandbox)).outcome).toBe('nothing new');
    expect(logOf(sandbox.remote, 'work')).toHaveLength(3);
  });

  it('is stopped by a pre-push hook, which can be disabled', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, '.git/hooks/pre-push', '#!/bin/sh\necho "not on a Sunday" >&2\nexit 1\n');
    chmodSync(join(sandbox.project, '.git/hooks/pre-push'), 0o755);
    writeIn(sandbox.project, NOTE, 'a note\n');
    expect(await codeOf(publish(sandbox))).toBe('HANDOVER_GIT_HOOK_FAILED');
    expect(logOf(sandbox.remote, 'work')).toEqual(['First']);
    configure(sandbox, '[publish]\nbackend = "git"\ngit.hooks = false\n');
    expect((await publish(sandbox)).outcome).toBe('published');
    expect(logOf(sandbox.remote, 'work')).toHaveLength(2);
  });

  it.each([null, 'my hooks'])('runs no hook but pre-push, as git calls it, with the hooks in %s', async (hooksPath) => {
    const sandbox = makeGitSandbox();
    const folder = hooksPath ?? '.git/hooks';
    if (hooksPath !== null) runGit(sandbox.project, 'config', 'core.hooksPath', hooksPath);
    for (const name of HOOKS) {
      writeIn(
        sandbox.project,
        `${folder}/${name}`,
        `#!/bin/sh\necho "$(basename "$0") $1" >> "$(dirname "$0")/ran.log"\ncat >/dev/null\n`,
      );
      chmodSync(join(sandbox.project, folder, name), 0o755);
    }
    writeIn(sandbox.project, NOTE, 'a note\n');
    expect((await publish(sandbox)).outcome).toBe('published');
    expect(readIn(sandbox.project, `${folder}/ran.log`)).toBe('pre-push origin\n');
    expect(runGit(sandbox.project, 'rev-parse', 'origin/work')).toBe(runGit(sandbox.remote, 'rev-parse', 'work'));
  });

  it('is refused by a hook of the remote, and succeeds once that allows it', async () => {
    const sandbox = makeGitSandbox();
    const hook = join(sandbox.remote, 'hooks/pre-receive');
    mkdirSync(join(sandbox.remote, 'hooks'), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\necho "no memory here" >&2\nexit 1\n');
    chmodSync(hook, 0o755);
    writeIn(sandbox.project, NOTE, 'a note\n');
    expect(await codeOf(publish(sandbox))).toBe('HANDOVER_REMOTE_REFUSED');
    renameSync(hook, `${hook}.off`);
    expect((await publish(sandbox)).outcome).toBe('published');
    expect(logOf(sandbox.remote, 'work')).toHaveLength(2);
  });

  it('runs nothing that the repository names but the hook, and takes no ext:: transport', async () => {
    const sandbox = makeGitSandbox();
    const trap = join(sandbox.folder, 'trap');
    const fired = join(sandbox.folder, 'fired');
    writeFileSync(trap, `#!/bin/sh\ntouch ${fired}\ncat\n`);
    chmodSync(trap, 0o755);
    writeIn(sandbox.project, '.gitattributes', '* filter=trap diff=trap merge=trap\n');
    for (const key of [
      'core.fsmonitor',
      'core.pager',
      'diff.external',
      'filter.trap.clean',
      'filter.trap.process',
      'merge.trap.driver',
      'gpg.program',
      'core.editor',
    ])
      runGit(sandbox.project, 'config', key, trap);
    runGit(sandbox.project, 'config', 'commit.gpgSign', 'true');
    runGit(sandbox.project, 'config', 'push.gpgSign', 'true');
    writeIn(sandbox.project, NOTE, 'a note\n');
    expect((await publish(sandbox)).outcome).toBe('published');
    runGit(sandbox.project, 'config', 'remote.origin.url', `ext::${trap} %S`);
    writeIn(sandbox.project, NOTE, 'another\n');
    expect(await codeOf(publish(sandbox))).toBe('HANDOVER_REMOTE_UNREACHABLE');
    expect(existsSync(fired)).toBe(false);
  });

  it('prints its destination without the password in the URL', async () => {
    const sandbox = makeGitSandbox();
    runGit(sandbox.project, 'config', 'remote.origin.url', 'https://ada:hunter2@example.invalid/app.git');
    const { destination } = await publish(sandbox, { dryRun: true });
    expect(destination).toBe('https://example.invalid/app.git refs/heads/work');
  });

  it('prints no password when the remote is unreachable', async () => {
    const sandbox = makeGitSandbox();
    runGit(sandbox.project, 'config', 'remote.origin.url', 'http://ada:hunter2@127.0.0.1:1/app.git');
    writeIn(sandbox.project, NOTE, 'a note\n');
    const { status: exit, stderr } = await sandbox.run(['push', '--json']);
    expect(exit).toBe(69);
    expect(stderr).not.toContain('hunter2');
  });
});

it('a published file equals the one on disk', async () => {
  const sandbox = makeGitSandbox();
  writeIn(sandbox.project, NOTE, Buffer.from([0xff, 0x00, 0x0d, 0x0a, 0xe4]));
  await publish(sandbox);
  expect(readFileSync(join(sandbox.project, NOTE))).toEqual(Buffer.from([0xff, 0x00, 0x0d, 0x0a, 0xe4]));
  expect(readIn(sandbox.project, 'code.txt')).toBe('first\n');
  const blob = runGit(sandbox.remote, 'rev-parse', `work:${NOTE}`);
  expect(blob).toBe(runGit(sandbox.project, 'hash-object', '--no-filters', NOTE));
});
