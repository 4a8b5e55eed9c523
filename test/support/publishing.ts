import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type PublishReport, type PublishRequest, publishProject } from '../../src/exchange/publish/publish-project.ts';
import { makeSandbox, runGit, type Sandbox } from './cli.ts';

/** Writes a file of the project, with the folders above it. */
export function writeIn(folder: string, path: string, text: string | Uint8Array): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

export function readIn(folder: string, path: string): string {
  return readFileSync(join(folder, path), 'utf8');
}

/** Makes the user's settings. */
export function configure(sandbox: Sandbox, toml: string): void {
  writeIn(sandbox.home, '.config/agent-handover/config.toml', toml);
}

export async function publish(sandbox: Sandbox, request: PublishRequest = {}): Promise<PublishReport> {
  return await publishProject({ name: 'app', ...request }, sandbox.machine);
}

/** The code of the error that something ends in; what it gives if it does not. */
export async function codeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}

/** A sandbox whose project is a clone on the branch `work`, with one commit that is pushed. */
export interface GitSandbox extends Sandbox {
  remote: string;
}

export function makeGitSandbox(settings = '', remote?: string): GitSandbox {
  const sandbox = makeSandbox();
  const bare = remote ?? join(sandbox.folder, 'remote.git');
  if (remote === undefined) runGit(sandbox.folder, 'init', '--quiet', '--bare', bare);
  writeFileSync(
    join(sandbox.home, '.gitconfig'),
    '[user]\n  name = Ada\n  email = ada@example.invalid\n[init]\n  defaultBranch = main\n',
  );
  configure(sandbox, `[publish]\nbackend = "git"\n${settings}`);
  const git = (...args: string[]): string => runGit(sandbox.project, ...args);
  git('init', '--quiet');
  git('remote', 'add', 'origin', `file://${bare}`);
  if (remote === undefined) {
    git('switch', '--quiet', '--create', 'work');
    writeIn(sandbox.project, 'code.txt', 'first\n');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'First');
    git('push', '--quiet', '--set-upstream', 'origin', 'work');
  } else {
    git('fetch', '--quiet');
    git('switch', '--quiet', 'work');
  }
  return { ...sandbox, remote: bare };
}

/** What a branch of the remote holds, by path. */
export function readRemote(remote: string, ref = 'work'): Map<string, string> {
  const paths = runGit(remote, 'ls-tree', '-r', '-z', '--name-only', ref).split('\0').filter(Boolean);
  return new Map(paths.map((path) => [path, runGit(remote, 'show', `${ref}:${path}`)]));
}

export function logOf(folder: string, ref: string): string[] {
  return runGit(folder, 'log', '--format=%s', ref).trim().split('\n');
}

/** A project that is published to a folder. */
export function makeFolderSandbox(): Sandbox & { drive: string } {
  const sandbox = makeSandbox();
  const drive = join(sandbox.folder, 'drive');
  mkdirSync(drive);
  writeIn(sandbox.project, 'HANDOFF.md', 'where things stand\n');
  configure(sandbox, `[publish]\nbackend = "folder"\nfolder.path = "${drive}"\n`);
  return { ...sandbox, drive };
}
