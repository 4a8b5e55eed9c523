import { rmSync } from 'node:fs';
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
const OTHER_NOTE = 'memory/layer1/2026-11/review-2026-11-15.md';
const STATE = 'memory/layer2/current-state.md';

function isClean(sandbox: GitSandbox): boolean {
  return runGit(sandbox.project, 'status', '--porcelain') === '';
}

/** Two clones of one remote; the first has published a note. */
async function makePair(settings = ''): Promise<[GitSandbox, GitSandbox]> {
  const one = makeGitSandbox(settings);
  writeIn(one.project, NOTE, 'begun\n');
  await publish(one);
  const two = makeGitSandbox(settings, one.remote);
  return [one, two];
}

describe('two machines that publish on one branch', () => {
  it('both get what either wrote, also on disk', async () => {
    const [one, two] = await makePair();
    writeIn(one.project, OTHER_NOTE, 'of one\n');
    await publish(one);
    writeIn(two.project, STATE, 'of two\n');
    expect((await publish(two)).outcome).toBe('published');
    expect(readIn(two.project, OTHER_NOTE)).toBe('of one\n');
    expect(isClean(two)).toBe(true);
    expect([...readRemote(one.remote).keys()].sort()).toEqual(['code.txt', OTHER_NOTE, NOTE, STATE]);
    expect(logOf(one.remote, 'work')).toHaveLength(4);
    expect((await publish(two)).outcome).toBe('nothing new');
  });

  it('keep both additions to one file of notes', async () => {
    const [one, two] = await makePair();
    writeIn(one.project, NOTE, 'begun\nby one\n');
    writeIn(two.project, NOTE, 'begun\nby two\n');
    await publish(one);
    await publish(two);
    expect(readRemote(one.remote).get(NOTE)).toBe('begun\nby two\nby one\n');
    expect(readIn(two.project, NOTE)).toBe('begun\nby two\nby one\n');
    expect(isClean(two)).toBe(true);
  });

  it('merge changes of different lines of a file', async () => {
    const [one, two] = await makePair();
    const lines = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    writeIn(one.project, STATE, `${lines.join('\n')}\n`);
    await publish(one);
    runGit(two.project, 'pull', '--quiet', '--rebase');
    writeIn(one.project, STATE, `${lines.join('\n').replace('a', 'A')}\n`);
    writeIn(two.project, STATE, `${lines.join('\n').replace('g', 'G')}\n`);
    await publish(one);
    await publish(two);
    expect(readRemote(one.remote).get(STATE)).toBe('A\nb\nc\nd\ne\nf\nG\n');
    expect(isClean(two)).toBe(true);
  });

  it('follow what the other one deleted, and refuse when both touched the same lines', async () => {
    const [one, two] = await makePair();
    writeIn(one.project, STATE, 'one\n');
    rmSync(join(one.project, NOTE));
    await publish(one);
    writeIn(two.project, OTHER_NOTE, 'two\n');
    await publish(two);
    expect(readRemote(one.remote).has(NOTE)).toBe(false);
    expect(isClean(two)).toBe(true);
    writeIn(one.project, STATE, 'one again\n');
    runGit(one.project, 'pull', '--quiet', '--rebase', '--autostash');
    await publish(one);
    writeIn(two.project, STATE, 'two again\n');
    expect(await codeOf(publish(two))).toBe('HANDOVER_PUBLISH_CONFLICT');
    expect(readIn(two.project, STATE)).toBe('two again\n');
    expect(readRemote(one.remote).get(STATE)).toBe('one again\n');
    expect(logOf(two.project, 'HEAD')).toHaveLength(logOf(one.remote, 'work').length);
  });

  it('refuse when the remote has other new commits, and continue after a pull', async () => {
    const [one, two] = await makePair();
    writeIn(one.project, 'code.txt', 'other code\n');
    runGit(one.project, 'commit', '--quiet', '--all', '--message', 'Code');
    runGit(one.project, 'push', '--quiet');
    writeIn(two.project, STATE, 'two\n');
    expect(await codeOf(publish(two))).toBe('HANDOVER_PUBLISH_DIVERGED');
    expect(readIn(two.project, 'code.txt')).toBe('first\n');
    expect(isClean(two)).toBe(true);
    runGit(two.project, 'pull', '--quiet', '--rebase');
    expect((await publish(two)).outcome).toBe('published');
    expect(logOf(one.remote, 'work')[0]).toBe('handover: memory of app');
  });

  it('do not replace a commit of the user', async () => {
    const [one, two] = await makePair('git.own_commits = "push"\n');
    writeIn(one.project, OTHER_NOTE, 'of one\n');
    await publish(one);
    runGit(two.project, 'commit', '--quiet', '--allow-empty', '--message', 'Mine');
    writeIn(two.project, STATE, 'two\n');
    expect(await codeOf(publish(two))).toBe('HANDOVER_PUBLISH_DIVERGED');
    expect(logOf(two.project, 'HEAD').slice(0, 2)).toEqual(['handover: memory of app', 'Mine']);
    runGit(two.project, 'pull', '--quiet', '--rebase');
    expect((await publish(two)).outcome).toBe('published');
    expect(logOf(one.remote, 'work').slice(0, 2)).toEqual(['handover: memory of app', 'Mine']);
  });

  it('do not touch a file that differs from what was published', async () => {
    const [one, two] = await makePair();
    writeIn(one.project, NOTE, 'begun\nby one\n');
    await publish(one);
    writeIn(two.project, NOTE, 'begun\ntoken ghp_0123456789abcdefghijABCDEFGHIJ012345\n');
    expect(await codeOf(publish(two))).toBe('HANDOVER_PUBLISH_CONFLICT');
    expect(readIn(two.project, NOTE)).toContain('ghp_');
    expect([...readRemote(one.remote).values()].join()).not.toContain('ghp_');
  });
});

describe('two machines that publish on a branch of its own', () => {
  const settings = 'git.ref = "refs/heads/memory"\n';

  it('keep both changes there', async () => {
    const [one, two] = await makePair(settings);
    writeIn(two.project, NOTE, 'begun\n');
    writeIn(two.project, OTHER_NOTE, 'of two\n');
    await publish(two);
    writeIn(one.project, NOTE, 'begun\nby one\n');
    await publish(one);
    expect((await publish(two)).outcome).toBe('nothing new');
    writeIn(two.project, STATE, 'two\n');
    await publish(two);
    expect(readRemote(one.remote, 'memory')).toEqual(
      new Map([
        [OTHER_NOTE, 'of two\n'],
        [NOTE, 'begun\nby one\n'],
        [STATE, 'two\n'],
      ]),
    );
    for (const { project } of [one, two])
      expect(runGit(project, 'status', '--porcelain', '--untracked-files=no')).toBe('');
    expect(logOf(one.remote, 'work')).toEqual(['First']);
  });

  it('publish from any branch, and with a detached head', async () => {
    const sandbox = makeGitSandbox(settings);
    runGit(sandbox.project, 'switch', '--quiet', '--detach');
    writeIn(sandbox.project, NOTE, 'begun\n');
    await publish(sandbox);
    expect(readRemote(sandbox.remote, 'memory').get(NOTE)).toBe('begun\n');
  });
});

it('eight processes on four clones that publish at once lose nothing', async () => {
  const first = makeGitSandbox();
  const sandboxes = [first, ...[1, 2, 3].map(() => makeGitSandbox('', first.remote))];
  sandboxes.forEach((sandbox, at) => {
    configure(sandbox, '[publish]\nbackend = "git"\n');
    writeIn(sandbox.project, `memory/layer1/2026-11/m${at}-2026-11-15.md`, `of ${at}\n`);
  });
  const runs = [...sandboxes, ...sandboxes].map((sandbox) => sandbox.run(['push'], { timeoutMs: 60_000 }));
  const ends = (await Promise.all(runs)).map(({ status }) => status);
  expect(ends.filter((status) => status !== 0 && status !== 75)).toEqual([]);
  for (const sandbox of sandboxes) await sandbox.ok(['push'], { timeoutMs: 60_000 });
  expect([...readRemote(first.remote)].filter(([path]) => path.startsWith('memory/'))).toEqual(
    [0, 1, 2, 3].map((at) => [`memory/layer1/2026-11/m${at}-2026-11-15.md`, `of ${at}\n`]),
  );
  for (const sandbox of sandboxes) expect(isClean(sandbox)).toBe(true);
}, 120_000);
