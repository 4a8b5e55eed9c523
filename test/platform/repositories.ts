import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describeMachine, type Env, type Machine } from '../../src/platform/machine.ts';

/** A temporary folder with a home of its own, in which git sees no settings but those a test makes. */
export interface Sandbox {
  folder: string;
  env: Env;
  machine: Machine;
  git(cwd: string, ...args: string[]): string;
  /** Writes a file, with the folders above it, and returns its path. */
  write(path: string, content?: string | Uint8Array): string;
  /** A repository with one commit that holds `tracked.txt`, on the branch `main`. */
  createRepository(name: string): string;
  createFolder(name: string): string;
  remove(): void;
}

export function createSandbox(): Sandbox {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'handover-git-')));
  const home = join(folder, 'home');
  mkdirSync(home);
  const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
  const sandbox: Sandbox = {
    folder,
    env,
    machine: describeMachine(env, folder),
    git: (cwd, ...args) => runPlainGit(cwd, args, env),
    write: (path, content = '') => {
      const target = join(folder, path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, content);
      return target;
    },
    createFolder: (name) => {
      mkdirSync(join(folder, name), { recursive: true });
      return join(folder, name);
    },
    createRepository: (name) => {
      const root = sandbox.createFolder(name);
      sandbox.git(root, 'init', '--quiet', '--initial-branch=main');
      sandbox.write(join(name, 'tracked.txt'), 'first\n');
      commitAll(sandbox, root, 'First');
      return root;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  return sandbox;
}

export function commitAll(sandbox: Sandbox, root: string, message: string): void {
  sandbox.git(root, 'add', '--all');
  sandbox.git(root, 'commit', '--quiet', '--allow-empty', '--no-gpg-sign', '--message', message);
}

const SETTINGS = ['user.name=Test', 'user.email=test@example.invalid', 'protocol.file.allow=always'];

/** Git as a user has it: with everything that a repository's configuration asks for. */
function runPlainGit(cwd: string, args: readonly string[], env: Env): string {
  return execFileSync('git', [...SETTINGS.flatMap((setting) => ['-c', setting]), ...args], {
    cwd,
    env: { ...env },
    encoding: 'utf8',
    timeout: 20_000,
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** For commands that end in a conflict. */
export function attemptGit(sandbox: Sandbox, cwd: string, ...args: string[]): boolean {
  try {
    sandbox.git(cwd, ...args);
    return true;
  } catch (error) {
    if (error instanceof Error && 'status' in error && typeof error.status === 'number') return false;
    throw error;
  }
}
