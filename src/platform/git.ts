import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { HandoverError } from '../errors.ts';
import { pathExists, resolveRealPath } from './folders.ts';
import type { Env } from './machine.ts';
import { type ProgramResult, runProgram } from './processes.ts';

export interface GitOptions {
  cwd: string;
  env: Env;
  timeoutMs?: number;
  maxBytes?: number;
  /** What git reads on its standard input. */
  input?: string | Uint8Array;
  /** Variables and settings that win over all others. */
  variables?: Env;
  settings?: readonly string[];
  /** Lets git contact a remote by the repository's URL, ssh command and credential helper, or also run its hooks. */
  remote?: 'contact' | 'run-hooks';
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** GIT_* variables that say where the user's own settings are. Every other GIT_* redirects git, or makes it run something. */
const KEPT = new Set(['CONFIG_GLOBAL', 'CONFIG_SYSTEM', 'CONFIG_NOSYSTEM', 'CEILING_DIRECTORIES']);

const FIXED_ENV: Env = { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', GIT_PAGER: 'cat' };

/** A partial clone fetches what it lacks by whatever command its configuration names. Reading never needs a remote. */
const OFFLINE_ENV: Env = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' };

/** A repository's own configuration may name programs and change what is printed: these win over it. */
const FIXED_CONFIG = [
  ...['core.fsmonitor=false', 'core.pager=cat', 'core.quotePath=false', 'diff.external=', 'diff.orderFile=/dev/null'],
  ...['protocol.ext.allow=never', 'submodule.recurse=false', 'log.showSignature=false', 'status.showStash=false'],
  ...['status.submoduleSummary=false', 'color.ui=false', 'i18n.logOutputEncoding=UTF-8'],
];

const NO_HOOKS = 'core.hooksPath=/dev/null';

/** Commands that read no file of the worktree, so that no content filter can be asked for. */
const FILTER_FREE: ReadonlySet<string> = new Set([
  ...['rev-parse', 'config', 'log', 'symbolic-ref', 'cat-file', 'check-ignore', 'check-ref-format'],
  ...['commit-tree', 'diff-tree', 'fast-import', 'fetch', 'ls-files', 'ls-tree', 'merge-base', 'merge-file'],
  ...['push', 'read-tree', 'remote', 'rev-list', 'update-ref', 'var', 'worktree', 'write-tree'],
]);

/**
 * Runs git in a repository that may be hostile: nothing that the repository's own configuration names is executed, no
 * remote is contacted unless `remote` says so, and no prompt is shown. A failing git is a result with its status; a
 * git that is missing or does not end is an error. Needs git 2.26; with an older one, commands that read worktree
 * files fail with HANDOVER_GIT_FAILED.
 */
export function runGit(args: readonly string[], options: GitOptions): ProgramResult {
  const [command = ''] = args;
  const filters = FILTER_FREE.has(command) ? [] : findRepositoryFilters(options);
  const disarmed = filters.flatMap((name) =>
    ['clean=', 'process=', 'smudge=', 'required=false'].flatMap((end) => ['-c', `filter.${name}.${end}`]),
  );
  return spawnGit([...disarmed, ...args], options);
}

/** Null when git timed out, or could not be run safely. */
export function runGitOrNull(args: readonly string[], git: GitOptions): ProgramResult | null {
  try {
    return runGit(args, git);
  } catch (error) {
    if (!(error instanceof HandoverError)) throw error;
    if (error.code === 'HANDOVER_PROGRAM_TIMEOUT' || error.code === 'HANDOVER_GIT_FAILED') return null;
    throw error;
  }
}

function spawnGit(args: readonly string[], options: GitOptions): ProgramResult {
  const { input, settings = [], variables = {}, remote } = options;
  const hooks = remote === 'run-hooks' ? [] : [NO_HOOKS];
  const fixed = [...FIXED_CONFIG, ...hooks, ...settings].flatMap((setting) => ['-c', setting]);
  return runProgram('git', ['--no-pager', ...fixed, ...args], {
    cwd: options.cwd,
    env: { ...hardenEnv(options.env), ...(remote === undefined ? OFFLINE_ENV : {}), ...variables },
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    maxBytes: options.maxBytes ?? MAX_BYTES,
    ...(input === undefined ? {} : { input }),
  });
}

function hardenEnv(env: Env): Env {
  const kept = Object.entries(env).filter(([key]) => {
    const name = key.toUpperCase();
    return name !== 'SSH_ASKPASS' && (!name.startsWith('GIT_') || KEPT.has(name.slice('GIT_'.length)));
  });
  return { ...Object.fromEntries(kept), ...FIXED_ENV };
}

/** More than any project has, and far from the longest command line. */
const MAX_FILTERS = 100;

/** Those that the repository itself defines, also by inclusion or for one worktree. The user's own stay in force. */
function findRepositoryFilters(options: GitOptions): string[] {
  // The pattern is open at the end, so that no byte in a name can keep it from matching.
  const form = ['--includes', '--null', '--show-scope', '--name-only'];
  const result = spawnGit(['config', ...form, '--get-regexp', '^filter\\.'], options);
  const { cwd } = options;
  // None is defined.
  if (result.status === 1) return [];
  if (result.status !== 0 || result.truncated)
    throw new HandoverError('HANDOVER_GIT_FAILED', `git could not list the content filters of ${cwd}`, {
      hint: `Run there: git config --show-scope --get-regexp '^filter\\.' (needs git 2.26 or newer)`,
      data: { status: result.status, stderr: result.stderr },
    });
  const names = new Set<string>();
  const fields = result.stdout.toString('utf8').split('\0');
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [scope = '', key = ''] = fields.slice(i, i + 2);
    const name = key.slice('filter.'.length, key.lastIndexOf('.'));
    if ((scope === 'local' || scope === 'worktree') && name !== '') names.add(name);
  }
  // `-c` takes the first `=` as the end of the key, and an argument is UTF-8: other names would stay armed.
  if (names.size <= MAX_FILTERS && ![...names].some((name) => /[=\ufffd]/.test(name))) return [...names];
  const message = `the configuration of ${cwd} defines content filters that cannot be turned off`;
  throw new HandoverError('HANDOVER_GIT_FAILED', message, {
    hint: 'Look at the [filter] sections of its .git/config before you run git there.',
  });
}

export type GitState = 'present' | 'absent' | 'missing' | 'refused';

export interface Repository {
  state: 'present';
  /** The real git dir of the worktree. */
  gitDir: string;
  /** What all worktrees share. */
  commonDir: string;
  /** The worktree's real top level; null in a bare repository and inside a git dir. */
  top: string | null;
}

/** An argument that rev-parse does not know is printed as it is, and so keeps apart paths with line feeds. */
const PATH_END = '--path-ends-here';

/** `folder` is a real path. The other states: no repository, no git, or a git that will not or cannot read it. */
export function locateRepository(folder: string, env: Env): Repository | { state: Exclude<GitState, 'present'> } {
  if (!isInRepository(folder)) return { state: 'absent' };
  const result = queryRepository(folder, env);
  if (typeof result === 'string') return { state: result };
  const parts = result.stdout.toString('utf8').split(`\n${PATH_END}\n`);
  const [gitDirText = '', commonDirText = '', topText = ''] = parts;
  if (parts.length !== 3) return { state: 'refused' };
  const gitDir = resolveRealPath(resolve(folder, gitDirText));
  const commonDir = resolveRealPath(resolve(folder, commonDirText));
  if (gitDir === null || commonDir === null) return { state: 'refused' };
  if (isBareContent(folder, gitDir)) return locateRepository(dirname(gitDir), env);
  return { state: 'present', gitDir, commonDir, top: acceptTop(topText.replace(/\n$/, ''), folder) };
}

function queryRepository(folder: string, env: Env): ProgramResult | 'missing' | 'refused' {
  const query = ['--absolute-git-dir', PATH_END, '--git-common-dir', PATH_END, '--show-toplevel'];
  try {
    return runGit(['rev-parse', ...query], { cwd: folder, env });
  } catch (error) {
    if (!(error instanceof HandoverError)) throw error;
    if (error.code === 'HANDOVER_PROGRAM_MISSING') return 'missing';
    if (error.code === 'HANDOVER_PROGRAM_TIMEOUT' || error.code === 'HANDOVER_PERMISSION') return 'refused';
    throw error;
  }
}

/**
 * Whether a git dir is only content of another repository. Files that make up a bare repository can be committed and
 * cloned, and would then speak for the folder, with a remote of their choice. A `.git` cannot.
 */
function isBareContent(folder: string, gitDir: string): boolean {
  const isGitDir = gitDir.split(sep).includes('.git');
  return isInside(folder, gitDir) && !isGitDir && isInRepository(dirname(gitDir));
}

/** `core.worktree` can name any folder: one that does not hold `.git`, or not the folder asked about, is not believed. */
function acceptTop(text: string, folder: string): string | null {
  const top = text === '' ? null : resolveRealPath(text);
  return top !== null && isInside(folder, top) && pathExists(join(top, '.git')) ? top : null;
}

function isInRepository(folder: string): boolean {
  for (let current = folder; ; current = dirname(current)) {
    const looksBare = (): boolean => ['HEAD', 'objects', 'refs'].every((name) => pathExists(join(current, name)));
    if (pathExists(join(current, '.git')) || looksBare()) return true;
    if (dirname(current) === current) return false;
  }
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** One path for all worktrees of a repository: the main worktree's root, or the git dir itself where that stands alone. */
export function findMainRoot({ commonDir }: Repository): string {
  return basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
}
