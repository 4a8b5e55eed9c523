import { dirname, isAbsolute, join, resolve } from 'node:path';
import { readHead } from './external-file.ts';
import { isFileWithin, pathExists, resolveRealPath } from './folders.ts';

/* What can be known of a worktree without running git: hooks have no time for that. */

/** The top folder of a folder's worktree, without running git; the folder itself outside git. Null when out of reach. */
export function findWorktreeRoot(folder: string): string | null {
  const real = resolveRealPath(folder);
  if (real === null) return null;
  for (let path = real; ; path = dirname(path)) {
    if (pathExists(join(path, '.git'))) return path;
    if (dirname(path) === path) return real;
  }
}

const PACKED_REFS_BYTES = 4 * 1024 * 1024;
const COMMIT = /^[0-9a-f]{40,64}$/;
const SHORT_FILE_BYTES = 4096;

/** The commit at HEAD, read from git's own files; null outside git and in forms of repository that are not known here. */
export function readHeadCommit(root: string): string | null {
  const gitFolder = findGitFolder(root);
  if (gitFolder === null) return null;
  const head = readFirstLine(join(gitFolder, 'HEAD'));
  if (head === null) return null;
  const ref = parseRef(head);
  if (ref === null) return parseCommitHash(head);
  const common = findCommonFolder(gitFolder);
  return parseCommitHash(readFirstLine(join(common, ref))) ?? findPacked(common, ref);
}

/** The branch at HEAD, read likewise; null outside git and where none is checked out. */
export function readBranch(root: string): string | null {
  const gitFolder = findGitFolder(root);
  const ref = gitFolder === null ? null : parseRef(readFirstLine(join(gitFolder, 'HEAD')) ?? '');
  return ref?.replace(/^refs\/heads\//, '') ?? null;
}

function parseRef(head: string): string | null {
  const [, ref = null] = /^ref: (refs\/[^\0]+)$/.exec(head) ?? [];
  return ref?.split('/').includes('..') ? null : ref;
}

/** What the worktrees of a repository share. */
function findCommonFolder(gitFolder: string): string {
  return resolve(gitFolder, readFirstLine(join(gitFolder, 'commondir')) ?? '.');
}

/** What every git command reads, and what the list of changed files takes besides. */
const GIT_FILES = [
  'HEAD',
  'config',
  'config.worktree',
  'commondir',
  'packed-refs',
  'shallow',
  'objects/info/alternates',
];
const STATUS_FILES = ['index', 'info/sparse-checkout', '../.gitattributes', '../.gitignore', '../.gitmodules'];
const MAX_SMALL_BYTES = 16 * 1024 * 1024;
const MAX_LARGE_BYTES = 1024 * 1024 * 1024;

/**
 * Finds a file that is not what git takes it for: it reads files whole, would wait for a pipe, and never end with a
 * device. Null when there is none, and where git is better asked itself.
 */
export function findOddGitFile(folder: string, { forStatus = false } = {}): string | null {
  const root = findWorktreeRoot(folder) ?? folder;
  const gitFolder = findGitFolder(root);
  if (gitFolder === null) return null;
  const common = findCommonFolder(gitFolder);
  const ref = parseRef(readFirstLine(join(gitFolder, 'HEAD')) ?? '');
  const names = [...GIT_FILES, ...(forStatus ? STATUS_FILES : []), ...(ref === null ? [] : [ref])];
  const paths = names.flatMap((name) => [join(gitFolder, name), join(common, name)]);
  const isLarge = (path: string): boolean => path.endsWith('index') || path.endsWith('packed-refs');
  return paths.find((path) => !isFileWithin(path, isLarge(path) ? MAX_LARGE_BYTES : MAX_SMALL_BYTES)) ?? null;
}

/** In a linked worktree `.git` is a file that names the folder. */
function findGitFolder(root: string): string | null {
  const path = join(root, '.git');
  const line = readFirstLine(path);
  if (line === null) return path;
  const [, named] = /^gitdir: (.+)$/.exec(line) ?? [];
  if (named === undefined) return null;
  return isAbsolute(named) ? named : join(root, named);
}

function findPacked(common: string, ref: string): string | null {
  const packed = readHead(join(common, 'packed-refs'), PACKED_REFS_BYTES);
  const text = packed === null ? '' : packed.bytes.toString('utf8');
  const end = text.indexOf(` ${ref}\n`);
  return end === -1 ? null : parseCommitHash(text.slice(text.lastIndexOf('\n', end) + 1, end));
}

function readFirstLine(path: string): string | null {
  const head = readHead(path, SHORT_FILE_BYTES);
  return head === null ? null : (head.bytes.toString('utf8').split('\n', 1)[0] ?? '').trimEnd();
}

function parseCommitHash(text: string | null): string | null {
  return text !== null && COMMIT.test(text) ? text : null;
}
