import { basename, dirname, join, resolve, sep } from 'node:path';
import { catchIf, HandoverError, isHandoverError } from '../errors.ts';
import { readHead } from './external-file.ts';
import { isLexicallyInside, pathExists, resolveRealPath, withTempFolder, writeWithFolders } from './folders.ts';
import type { Env } from './machine.ts';
import { type ProgramResult, runProgram } from './processes.ts';
import { findOddGitFile } from './worktree.ts';

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
  /** Lets git contact a remote by the repository's URL, ssh command and credential helper. */
  contactsRemote?: boolean;
}

const TIMEOUT_MS = 4000;
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
  ...['core.hooksPath=/dev/null', 'status.submoduleSummary=false', 'color.ui=false', 'i18n.logOutputEncoding=UTF-8'],
];

/**
 * The commands that read no file of the worktree: a content filter is asked for by the path of a file, so that none can
 * run. Any other is for `runWithoutFilters`.
 */
const FILTER_FREE: ReadonlySet<string> = new Set(
  'rev-parse config log symbolic-ref cat-file check-ignore check-ref-format for-each-ref init commit-tree diff-tree fast-import fetch ls-files ls-tree merge-base merge-file push read-tree remote update-index update-ref var worktree write-tree'.split(
    ' ',
  ),
);

/**
 * Runs git in a repository that may be hostile: nothing that the repository's own configuration names is executed, no
 * remote is contacted unless asked to, and no prompt is shown. A failing git is a result with its status; a
 * git that is missing or does not end is an error.
 */
export function runGit(args: readonly string[], options: GitOptions): ProgramResult {
  const [command = ''] = args;
  if (!FILTER_FREE.has(command)) throw new TypeError(`git ${command} could start a content filter`);
  return spawnGit(args, options);
}

/** Null when git timed out, or could not be run safely. */
export function runGitOrNull(args: readonly string[], git: GitOptions): ProgramResult | null {
  const isExpected = (error: unknown): boolean =>
    isHandoverError(error) && (error.code === 'HANDOVER_PROGRAM_TIMEOUT' || error.code === 'HANDOVER_GIT_FAILED');
  return catchIf(isExpected, null, () => runGit(args, git));
}

/** Where git did not end in time, and until when it is not asked again: what it waited for is likely still there. */
const STUCK = new WeakMap<Env, Map<string, number>>();
const STUCK_MS = 10_000;

function spawnGit(args: readonly string[], options: GitOptions): ProgramResult {
  const { cwd, input, settings = [], variables = {}, contactsRemote = false } = options;
  const stuck = STUCK.get(options.env)?.get(cwd) ?? 0;
  if (Date.now() < stuck) throw new HandoverError('HANDOVER_PROGRAM_TIMEOUT', `git does not answer in ${cwd}`);
  const fixed = [...FIXED_CONFIG, ...settings].flatMap((setting) => ['-c', setting]);
  try {
    return runProgram('git', ['--no-pager', ...fixed, ...args], {
      cwd,
      env: { ...hardenEnv(options.env), ...(contactsRemote ? {} : OFFLINE_ENV), ...variables },
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      maxBytes: options.maxBytes ?? MAX_BYTES,
      ...(input === undefined ? {} : { input }),
    });
  } catch (error) {
    const isStuck = isHandoverError(error) && error.code === 'HANDOVER_PROGRAM_TIMEOUT' && !contactsRemote;
    if (isStuck) STUCK.set(options.env, new Map(STUCK.get(options.env)).set(cwd, Date.now() + STUCK_MS));
    throw error;
  }
}

function hardenEnv(env: Env): Env {
  const kept = Object.entries(env).filter(([key]) => {
    const name = key.toUpperCase();
    return name !== 'SSH_ASKPASS' && (!name.startsWith('GIT_') || KEPT.has(name.slice('GIT_'.length)));
  });
  return { ...Object.fromEntries(kept), ...FIXED_ENV };
}

/** Settings that say how the files of a worktree are compared. None can name a program. */
const COMPARISON =
  '^(core\\.(autocrlf|checkstat|eol|filemode|ignorecase|longpaths|precomposeunicode|sparsecheckout(cone)?|symlinks|trustctime)|extensions\\.objectformat)$';
const SHA256_CONFIG = '[core]\nrepositoryFormatVersion = 1\n[extensions]\nobjectFormat = sha256\n';
const MAX_EXCLUDES_BYTES = 1024 * 1024;

/**
 * Runs a git that reads files, in the top folder of a worktree and under a shared folder of our own: git finds there,
 * instead of the repository's configuration, the settings above, and attributes that come before all others and take
 * the filter from every path. So a file that only differs from its blob by a filter (Git LFS) counts as unchanged while
 * its size and times are those that git noted, else as changed. `head` is what HEAD leads to, where git has to know.
 */
export function runWithoutFilters(
  args: readonly string[],
  { gitDir, commonDir, head = null }: Pick<Repository, 'gitDir' | 'commonDir'> & { head?: Head | null },
  git: GitOptions,
): ProgramResult {
  const result = spawnGit(['config', '--includes', '--null', '--get-regexp', COMPARISON], git);
  const pairs = result.stdout.toString('utf8').split('\0').filter(Boolean);
  const settings = pairs.map((pair) => pair.replace('\n', '='));
  const isSha256 = settings.includes('extensions.objectformat=sha256');
  return withTempFolder((folder) => {
    const write = (name: string, data: string | Uint8Array): void => writeWithFolders(join(folder, name), data);
    write('config', isSha256 ? SHA256_CONFIG : '');
    write('info/attributes', '* -filter\n');
    write('info/exclude', readHead(join(commonDir, 'info', 'exclude'), MAX_EXCLUDES_BYTES)?.bytes ?? '');
    write('refs/.keep', '');
    if (typeof head?.ref === 'string' && head.commit !== null) write(head.ref, `${head.commit}\n`);
    return spawnGit(args, {
      ...git,
      settings: [...(git.settings ?? []), ...settings.filter((setting) => setting.startsWith('core.'))],
      variables: {
        GIT_DIR: gitDir,
        GIT_COMMON_DIR: folder,
        GIT_OBJECT_DIRECTORY: join(commonDir, 'objects'),
        GIT_WORK_TREE: git.cwd,
        ...git.variables,
      },
    });
  });
}

/** The full name of the branch, null for a detached HEAD; and its commit, null when there is none yet. */
export interface Head {
  ref: string | null;
  commit: string | null;
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
  if (findOddGitFile(folder) !== null) return { state: 'refused' };
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
  return isLexicallyInside(folder, gitDir) && !isGitDir && isInRepository(dirname(gitDir));
}

/** `core.worktree` can name any folder: one that does not hold `.git`, or not the folder asked about, is not believed. */
function acceptTop(text: string, folder: string): string | null {
  const top = text === '' ? null : resolveRealPath(text);
  return top !== null && isLexicallyInside(folder, top) && pathExists(join(top, '.git')) ? top : null;
}

function isInRepository(folder: string): boolean {
  for (let current = folder; ; current = dirname(current)) {
    const looksBare = (): boolean => ['HEAD', 'objects', 'refs'].every((name) => pathExists(join(current, name)));
    if (pathExists(join(current, '.git')) || looksBare()) return true;
    if (dirname(current) === current) return false;
  }
}

/** One path for all worktrees of a repository: the main worktree's root, or the git dir itself where that stands alone. */
export function findMainRoot({ commonDir }: Repository): string {
  return basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
}
