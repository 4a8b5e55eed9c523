import { dirname, isAbsolute, join, resolve } from 'node:path';
import { readHead } from './external-file.ts';
import { pathExists, resolveRealPath } from './folders.ts';

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
  const [, ref] = /^ref: (refs\/[^\0]+)$/.exec(head) ?? [];
  if (ref === undefined) return parseCommitHash(head);
  if (ref.split('/').includes('..')) return null;
  const common = resolve(gitFolder, readFirstLine(join(gitFolder, 'commondir')) ?? '.');
  return parseCommitHash(readFirstLine(join(common, ref))) ?? findPacked(common, ref);
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
