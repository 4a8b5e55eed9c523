import { isAbsolute, join, resolve } from 'node:path';
import { readHead as readFirstBytes } from './external-file.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const COMMIT = /^[0-9a-f]{40,64}$/;
const SHORT = 4096;

/** The commit that a worktree stands on, read from git's own files; null where these do not tell. */
export function readHeadCommit(root: string): string | null {
  const gitFolder = findGitFolder(root);
  if (gitFolder === null) return null;
  const head = readLine(join(gitFolder, 'HEAD'));
  if (head === null) return null;
  const [, ref] = /^ref: (refs\/[^\0]+)$/.exec(head) ?? [];
  if (ref === undefined) return toCommit(head);
  if (ref.split('/').includes('..')) return null;
  const common = resolve(gitFolder, readLine(join(gitFolder, 'commondir')) ?? '.');
  return toCommit(readLine(join(common, ref))) ?? findPacked(common, ref);
}

/** In a linked worktree `.git` is a file that names the folder. */
function findGitFolder(root: string): string | null {
  const path = join(root, '.git');
  const line = readLine(path);
  if (line === null) return path;
  const [, named] = /^gitdir: (.+)$/.exec(line) ?? [];
  if (named === undefined) return null;
  return isAbsolute(named) ? named : join(root, named);
}

function findPacked(common: string, ref: string): string | null {
  const packed = readFirstBytes(join(common, 'packed-refs'), MAX_BYTES);
  const text = packed === null ? '' : packed.bytes.toString('utf8');
  const end = text.indexOf(` ${ref}\n`);
  return end === -1 ? null : toCommit(text.slice(text.lastIndexOf('\n', end) + 1, end));
}

function readLine(path: string): string | null {
  const head = readFirstBytes(path, SHORT);
  return head === null ? null : (head.bytes.toString('utf8').split('\n', 1)[0] ?? '').trimEnd();
}

function toCommit(text: string | null): string | null {
  return text !== null && COMMIT.test(text) ? text : null;
}
