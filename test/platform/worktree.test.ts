import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findWorktreeRoot, readHeadCommit } from '../../src/platform/worktree.ts';
import { makeTempFolder, runGit } from '../support/cli.ts';

function makeRepository(): string {
  const folder = makeTempFolder();
  runGit(folder, 'init', '--quiet');
  runGit(folder, 'commit', '--quiet', '--allow-empty', '--message', 'first');
  return folder;
}

const askGit = (folder: string): string => runGit(folder, 'rev-parse', 'HEAD').trim();

describe('the current commit of a worktree', () => {
  it('is the same as git’s, with loose and packed references, detached and in a linked worktree', () => {
    const folder = makeRepository();
    expect(readHeadCommit(folder)).toBe(askGit(folder));
    runGit(folder, 'pack-refs', '--all');
    expect(readHeadCommit(folder)).toBe(askGit(folder));
    const linked = join(makeTempFolder(), 'linked');
    runGit(folder, 'worktree', 'add', '--quiet', '-b', 'feature/one', linked);
    runGit(linked, 'commit', '--quiet', '--allow-empty', '--message', 'second');
    expect(readHeadCommit(linked)).toBe(askGit(linked));
    expect(readHeadCommit(linked)).not.toBe(readHeadCommit(folder));
    runGit(folder, 'checkout', '--quiet', '--detach');
    expect(readHeadCommit(folder)).toBe(askGit(folder));
  });

  it('is unknown before the first commit, outside git, or with invalid files', () => {
    const folder = makeTempFolder();
    expect(readHeadCommit(folder)).toBeNull();
    runGit(folder, 'init', '--quiet');
    expect(readHeadCommit(folder)).toBeNull();
    for (const head of ['ref: refs/../../../etc/passwd', 'ref: ', '', 'deadbeef']) {
      writeFileSync(join(folder, '.git', 'HEAD'), `${head}\n`);
      expect(readHeadCommit(folder)).toBeNull();
    }
  });
});

describe('the root of a worktree', () => {
  it('is the same from its folders, and through links', () => {
    const folder = makeRepository();
    const deep = join(folder, 'a', 'b');
    mkdirSync(deep, { recursive: true });
    const link = join(makeTempFolder(), 'link');
    symlinkSync(deep, link);
    expect(findWorktreeRoot(deep)).toBe(folder);
    expect(findWorktreeRoot(link)).toBe(folder);
  });

  it('is the folder itself outside git, and none for a missing folder', () => {
    const folder = makeTempFolder();
    expect(findWorktreeRoot(folder)).toBe(folder);
    expect(findWorktreeRoot(join(folder, 'gone'))).toBeNull();
  });
});
