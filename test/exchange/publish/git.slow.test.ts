import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runGit } from '../../support/cli.ts';
import {
  codeOf,
  configure,
  type GitDesk,
  logOf,
  makeGitDesk,
  publish,
  readIn,
  readRemote,
  writeIn,
} from '../../support/publishing.ts';

const NOTE = 'memory/layer1/2026-11/work-2026-11-15.md';

function status(desk: GitDesk): string {
  return runGit(desk.project, 'status', '--porcelain');
}

describe('the commit of a push', () => {
  it('contains the memory alone, and staged changes stay staged', async () => {
    const desk = makeGitDesk();
    writeIn(desk.project, NOTE, 'a note\n');
    writeIn(desk.project, 'staged.txt', 'staged\n');
    runGit(desk.project, 'add', 'staged.txt');
    writeIn(desk.project, 'staged.txt', 'edited after that\n');
    writeIn(desk.project, 'code.txt', 'edited\n');
    writeIn(desk.project, 'untracked.txt', 'untracked\n');
    const before = status(desk).replace(/\?\? memory\/\n/, '');
    await publish(desk);
    expect(status(desk)).toBe(before);
    expect(runGit(desk.project, 'show', ':staged.txt')).toBe('staged\n');
    expect([...readRemote(desk.remote).keys()]).toEqual(['code.txt', NOTE]);
    expect(readRemote(desk.remote).get('code.txt')).toBe('first\n');
  });

  it('leaves a refreshed index, so that scripts see no change', async () => {
    const desk = makeGitDesk();
    writeIn(desk.project, NOTE, 'a note\n');
    await publish(desk);
    expect(runGit(desk.project, 'diff-files', '--name-only')).toBe('');
    expect(runGit(desk.project, 'diff-index', '--name-only', 'HEAD')).toBe('');
  });

  it('replaces a staged older version of the memory', async () => {
    const desk = makeGitDesk();
    writeIn(desk.project, NOTE, 'first\n');
    runGit(desk.project, 'add', NOTE);
    writeIn(desk.project, NOTE, 'second\n');
    await publish(desk);
    expect(status(desk)).toBe('');
    expect(readRemote(desk.remote).get(NOTE)).toBe('second\n');
  });

  it('follows deletions inside memory, but not of memory as a whole, nor of hidden files', async () => {
    const desk = makeGitDesk();
    writeIn(desk.project, NOTE, 'a note\n');
    writeIn(desk.project, 'memory/layer2/current-state.md', 'state\n');
    writeIn(desk.project, 'memory/.gitkeep', '');
    runGit(desk.project, 'add', 'memory/.gitkeep');
    runGit(desk.project, 'commit', '--quiet', '--message', 'Keep');
    runGit(desk.project, 'push', '--quiet');
    await publish(desk);
    rmSync(join(desk.project, NOTE));
    expect((await publish(desk)).changes).toEqual([{ path: NOTE, change: 'deleted', bytes: 0 }]);
    expect([...readRemote(desk.remote).keys()].sort()).toEqual([
      'code.txt',
      'memory/.gitkeep',
      'memory/layer2/current-state.md',
    ]);
    expect(status(desk)).toBe('');
    rmSync(join(desk.project, 'memory'), { recursive: true });
    expect((await publish(desk)).outcome).toBe('nothing new');
  });

  it('leaves out what a sparse checkout put aside and what git ignores', async () => {
    const desk = makeGitDesk();
    writeIn(desk.project, NOTE, 'a note\n');
    writeIn(desk.project, 'memory/layer2/current-state.md', 'state\n');
    await publish(desk);
    runGit(desk.project, 'update-index', '--skip-worktree', NOTE);
    rmSync(join(desk.project, NOTE));
    writeIn(desk.project, '.git/info/exclude', 'memory/layer3\n');
    writeIn(desk.project, 'memory/layer3/2026-10-work-archive.md', 'old\n');
    const { outcome, notes } = await publish(desk);
    expect(outcome).toBe('nothing new');
    expect(notes).toEqual(['memory/layer3/2026-10-work-archive.md is not published: git ignores it']);
    expect(readRemote(desk.remote).has(NOTE)).toBe(true);
  });

  it('contains the requested subfolder of the repository', async () => {
    const desk = makeGitDesk();
    writeIn(desk.project, 'packages/a/HANDOFF.md', 'of a\n');
    writeIn(desk.project, 'HANDOFF.md', 'of all\n');
    await publish(desk, { folder: join(desk.project, 'packages/a') });
    expect([...readRemote(desk.remote).keys()]).toEqual(['code.txt', 'packages/a/HANDOFF.md']);
  });

  it('contains files of any name, but none outside the project', async () => {
    const desk = makeGitDesk();
    const names = ['-x', 'a "b"', 'tab\there', 'line\nfeed', 'über 😀', "it's"];
    for (const name of names) writeIn(desk.project, `memory/layer1/2026-11/${name}.md`, name);
    await publish(desk);
    expect([...readRemote(desk.remote).values()].sort()).toEqual(['first\n', ...names].sort());
    expect(status(desk)).toBe('');
    for (const path of ['../x', '/etc', '.git', 'memory/../..'])
      expect(await codeOf(publish(desk, { paths: [path] }))).toBe('HANDOVER_PATH_UNSAFE');
  });

  it('has the user as author and a memory message, and runs no commit hook', async () => {
    const desk = makeGitDesk();
    for (const name of ['pre-commit', 'commit-msg', 'post-commit', 'prepare-commit-msg']) {
      writeIn(desk.project, `.git/hooks/${name}`, '#!/bin/sh\nexit 1\n');
      chmodSync(join(desk.project, '.git/hooks', name), 0o755);
    }
    writeIn(desk.project, NOTE, 'a note\n');
    await publish(desk);
    expect(runGit(desk.remote, 'log', '-1', '--format=%an <%ae> %s', 'work')).toBe(
      'Ada <ada@example.invalid> handover: memory of app\n',
    );
  });

  it('works in a repository without a commit, in a worktree and in one with SHA-256', async () => {
    const desk = makeGitDesk('git.push = false\n');
    const fresh = join(desk.folder, 'fresh');
    for (const format of ['sha1', 'sha256']) {
      runGit(desk.folder, 'init', '--quiet', `--object-format=${format}`, `${fresh}-${format}`);
      writeIn(`${fresh}-${format}`, NOTE, 'a note\n');
      expect((await publish(desk, { folder: `${fresh}-${format}` })).outcome).toBe('published');
      rmSync(join(`${fresh}-${format}`, NOTE));
      expect((await publish(desk, { folder: `${fresh}-${format}` })).outcome).toBe('published');
      expect(runGit(`${fresh}-${format}`, 'status', '--porcelain')).toBe('');
      expect(logOf(`${fresh}-${format}`, 'HEAD')).toHaveLength(2);
    }
    const tree = join(desk.folder, 'tree');
    runGit(desk.project, 'worktree', 'add', '--quiet', '-b', 'side', tree);
    writeIn(tree, NOTE, 'a note\n');
    await publish(desk, { folder: tree });
    expect(runGit(tree, 'status', '--porcelain')).toBe('');
    expect(logOf(desk.project, 'side')).toHaveLength(2);
    expect(logOf(desk.project, 'work')).toHaveLength(1);
  });
});

describe('a push that is not possible changes nothing and says why', () => {
  const tips = (desk: GitDesk): string => runGit(desk.project, 'for-each-ref', '--format=%(refname) %(objectname)');

  const refuse = async (desk: GitDesk): Promise<unknown> => {
    writeIn(desk.project, NOTE, 'a note\n');
    const before = [tips(desk), status(desk)];
    const code = await codeOf(publish(desk));
    expect([tips(desk), status(desk)]).toEqual(before);
    return code;
  };

  it('when no branch is checked out', async () => {
    const desk = makeGitDesk();
    runGit(desk.project, 'switch', '--quiet', '--detach');
    expect(await refuse(desk)).toBe('HANDOVER_GIT_DETACHED');
  });

  it.each(['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'rebase-merge/head-name'])('when %s exists', async (sign) => {
    const desk = makeGitDesk();
    writeIn(desk.project, `.git/${sign}`, `${runGit(desk.project, 'rev-parse', 'HEAD')}`);
    expect(await refuse(desk)).toBe('HANDOVER_GIT_BUSY');
  });

  it('when another git holds the index', async () => {
    const desk = makeGitDesk();
    writeIn(desk.project, NOTE, 'a note\n');
    writeIn(desk.project, '.git/index.lock', '');
    expect(await codeOf(publish(desk))).toBe('HANDOVER_GIT_BUSY');
    expect(existsSync(join(desk.project, '.git/index.lock'))).toBe(true);
    rmSync(join(desk.project, '.git/index.lock'));
    expect((await publish(desk)).outcome).toBe('published');
  });

  it('when there is no upstream, no such remote, or no remote', async () => {
    const desk = makeGitDesk();
    runGit(desk.project, 'branch', '--unset-upstream');
    expect(await refuse(desk)).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
    configure(desk, '[publish]\nbackend = "git"\ngit.remote = "elsewhere"\n');
    expect(await refuse(desk)).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
    runGit(desk.project, 'remote', 'remove', 'origin');
    configure(desk, '[publish]\nbackend = "git"\n');
    expect(await refuse(desk)).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
  });

  it('when it is no repository', async () => {
    const desk = makeGitDesk();
    rmSync(join(desk.project, '.git'), { recursive: true });
    writeIn(desk.project, NOTE, 'a note\n');
    expect(await codeOf(publish(desk))).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
  });

  it('when the branch for memory is checked out', async () => {
    const desk = makeGitDesk('git.ref = "refs/heads/work"\n');
    expect(await refuse(desk)).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
  });
});

describe('a push of the memory', () => {
  it('pushes no commit of the user unless asked', async () => {
    const desk = makeGitDesk();
    writeIn(desk.project, 'code.txt', 'not to be seen yet\n');
    runGit(desk.project, 'commit', '--quiet', '--all', '--message', 'Mine');
    writeIn(desk.project, NOTE, 'a note\n');
    expect((await publish(desk, { dryRun: true })).notes.join()).toContain('it will be refused: a commit of yours');
    expect(await codeOf(publish(desk))).toBe('HANDOVER_PUBLISH_UNASKED');
    expect(logOf(desk.remote, 'work')).toEqual(['First']);
    configure(desk, '[publish]\nbackend = "git"\ngit.own_commits = "push"\n');
    expect((await publish(desk)).outcome).toBe('published');
    expect(logOf(desk.remote, 'work')).toEqual(['handover: memory of app', 'Mine', 'First']);
  });

  const commit = (desk: GitDesk, ...args: string[]): string =>
    runGit(desk.project, 'commit', '--quiet', '--message', 'Mine', ...args);

  it.each<[string, (desk: GitDesk) => unknown]>([
    ['that is empty', (desk) => commit(desk, '--allow-empty')],
    [
      'that holds memory alone, with its secrets',
      (desk) => {
        writeIn(desk.project, NOTE, `ghp_${'a1'.repeat(18)}\n`);
        runGit(desk.project, 'add', NOTE);
        return commit(desk);
      },
    ],
    [
      'that was made of a commit of memory',
      async (desk) => {
        configure(desk, '[publish]\nbackend = "git"\ngit.push = false\n');
        writeIn(desk.project, NOTE, 'an earlier note\n');
        await publish(desk);
        configure(desk, '[publish]\nbackend = "git"\n');
        writeIn(desk.project, 'code.txt', 'mine\n');
        return runGit(desk.project, 'commit', '--quiet', '--all', '--amend', '--no-edit');
      },
    ],
  ])('pushes no commit of the user %s', async (_, make) => {
    const desk = makeGitDesk();
    await make(desk);
    writeIn(desk.project, NOTE, 'a note\n');
    expect(await codeOf(publish(desk))).toBe('HANDOVER_PUBLISH_UNASKED');
    expect(logOf(desk.remote, 'work')).toEqual(['First']);
  });

  it('is included in the next push of the user', async () => {
    const desk = makeGitDesk();
    writeIn(desk.project, 'code.txt', 'mine\n');
    runGit(desk.project, 'commit', '--quiet', '--all', '--message', 'Mine');
    writeIn(desk.project, NOTE, 'a note\n');
    await codeOf(publish(desk));
    runGit(desk.project, 'push', '--quiet');
    expect((await publish(desk)).outcome).toBe('nothing new');
    expect(logOf(desk.remote, 'work')).toHaveLength(3);
  });

  it('is stopped by a pre-push hook, which can be disabled', async () => {
    const desk = makeGitDesk();
    writeIn(desk.project, '.git/hooks/pre-push', '#!/bin/sh\necho "not on a Sunday" >&2\nexit 1\n');
    chmodSync(join(desk.project, '.git/hooks/pre-push'), 0o755);
    writeIn(desk.project, NOTE, 'a note\n');
    expect(await codeOf(publish(desk))).toBe('HANDOVER_GIT_HOOK_FAILED');
    expect(logOf(desk.remote, 'work')).toEqual(['First']);
    configure(desk, '[publish]\nbackend = "git"\ngit.hooks = false\n');
    expect((await publish(desk)).outcome).toBe('published');
    expect(logOf(desk.remote, 'work')).toHaveLength(2);
  });

  it('is refused by a hook of the remote, and succeeds once that allows it', async () => {
    const desk = makeGitDesk();
    const hook = join(desk.remote, 'hooks/pre-receive');
    mkdirSync(join(desk.remote, 'hooks'), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\necho "no memory here" >&2\nexit 1\n');
    chmodSync(hook, 0o755);
    writeIn(desk.project, NOTE, 'a note\n');
    expect(await codeOf(publish(desk))).toBe('HANDOVER_REMOTE_REFUSED');
    renameSync(hook, `${hook}.off`);
    expect((await publish(desk)).outcome).toBe('published');
    expect(logOf(desk.remote, 'work')).toHaveLength(2);
  });

  it('runs nothing that the repository names but the hook, and takes no ext:: transport', async () => {
    const desk = makeGitDesk();
    const trap = join(desk.folder, 'trap');
    const fired = join(desk.folder, 'fired');
    writeFileSync(trap, `#!/bin/sh\ntouch ${fired}\ncat\n`);
    chmodSync(trap, 0o755);
    writeIn(desk.project, '.gitattributes', '* filter=trap diff=trap merge=trap\n');
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
      runGit(desk.project, 'config', key, trap);
    runGit(desk.project, 'config', 'commit.gpgSign', 'true');
    runGit(desk.project, 'config', 'push.gpgSign', 'true');
    writeIn(desk.project, NOTE, 'a note\n');
    expect((await publish(desk)).outcome).toBe('published');
    runGit(desk.project, 'config', 'remote.origin.url', `ext::${trap} %S`);
    writeIn(desk.project, NOTE, 'another\n');
    expect(await codeOf(publish(desk))).toBe('HANDOVER_REMOTE_UNREACHABLE');
    expect(existsSync(fired)).toBe(false);
  });

  it('prints its destination without the password in the URL', async () => {
    const desk = makeGitDesk();
    runGit(desk.project, 'config', 'remote.origin.url', 'https://ada:hunter2@example.invalid/app.git');
    const { destination } = await publish(desk, { dryRun: true });
    expect(destination).toBe('https://example.invalid/app.git refs/heads/work');
  });

  it('prints no password when the remote is unreachable', async () => {
    const desk = makeGitDesk();
    runGit(desk.project, 'config', 'remote.origin.url', 'http://ada:hunter2@127.0.0.1:1/app.git');
    writeIn(desk.project, NOTE, 'a note\n');
    const { status: exit, stderr } = await desk.run(['push', '--json']);
    expect(exit).toBe(69);
    expect(stderr).not.toContain('hunter2');
  });
});

it('a published file equals the one on disk', async () => {
  const desk = makeGitDesk();
  writeIn(desk.project, NOTE, Buffer.from([0xff, 0x00, 0x0d, 0x0a, 0xe4]));
  await publish(desk);
  expect(readFileSync(join(desk.project, NOTE))).toEqual(Buffer.from([0xff, 0x00, 0x0d, 0x0a, 0xe4]));
  expect(readIn(desk.project, 'code.txt')).toBe('first\n');
  const blob = runGit(desk.remote, 'rev-parse', `work:${NOTE}`);
  expect(blob).toBe(runGit(desk.project, 'hash-object', '--no-filters', NOTE));
});
