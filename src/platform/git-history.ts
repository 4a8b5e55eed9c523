import { isAbsolute, join, resolve } from 'node:path';
import type { Commit } from '../model/workspace.ts';
import { readHead as readFirstBytes } from './external-file.ts';
import { runGitOrNull } from './git.ts';
import { COMMIT_RECORDS, parseCommit, splitRecords } from './git-facts.ts';
import type { Machine } from './machine.ts';

const PACKED_REFS_BYTES = 4 * 1024 * 1024;
const COMMIT = /^[0-9a-f]{40,64}$/;
const SHORT_FILE_BYTES = 4096;

/** The commit that a worktree stands on, read from git's own files; null where these do not tell. */
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
  const packed = readFirstBytes(join(common, 'packed-refs'), PACKED_REFS_BYTES);
  const text = packed === null ? '' : packed.bytes.toString('utf8');
  const end = text.indexOf(` ${ref}\n`);
  return end === -1 ? null : parseCommitHash(text.slice(text.lastIndexOf('\n', end) + 1, end));
}

function readFirstLine(path: string): string | null {
  const head = readFirstBytes(path, SHORT_FILE_BYTES);
  return head === null ? null : (head.bytes.toString('utf8').split('\n', 1)[0] ?? '').trimEnd();
}

function parseCommitHash(text: string | null): string | null {
  return text !== null && COMMIT.test(text) ? text : null;
}

/** What git knows of a file, or of the files below a folder or that fit a pattern. */
export interface FileHistory {
  /** The commits that changed it, the newest first. */
  commits: Commit[];
  /** What it was called before, from the root of the worktree. */
  earlierNames: string[];
}

export interface HistoryQuestion {
  kind: 'file' | 'folder' | 'pattern';
  /** From the root of the worktree. */
  path: string;
  /** Only commits in which this text came or went. */
  symbol: string | null;
  limit: number;
}

const HISTORY_TIMEOUT_MS = 3000;
const HISTORY_BYTES = 4 * 1024 * 1024;

/** Nothing where git does not know the file, there is no git, or it takes too long. */
export function readFileHistory(root: string, asked: HistoryQuestion, machine: Machine): FileHistory {
  const { kind, path, symbol, limit } = asked;
  const follows = kind === 'file' && path !== '';
  const args = [
    'log',
    `--max-count=${limit}`,
    ...COMMIT_RECORDS,
    '--name-status',
    ...(follows ? ['--follow'] : []),
    ...(symbol === null ? [] : [`-S${symbol}`]),
    'HEAD',
    '--',
    path === '' ? '.' : path,
  ];
  const magic = kind === 'pattern' ? 'GIT_GLOB_PATHSPECS' : 'GIT_LITERAL_PATHSPECS';
  const result = runGitOrNull(args, {
    cwd: root,
    env: machine.env,
    variables: { [magic]: '1' },
    timeoutMs: HISTORY_TIMEOUT_MS,
    maxBytes: HISTORY_BYTES,
  });
  if (result === null || result.status !== 0) return { commits: [], earlierNames: [] };
  const history = parseHistory(result.stdout);
  return follows ? history : { ...history, earlierNames: [] };
}

/** Reads commits, each followed by a status and one or two paths for every file. Never throws: what it does not know is left out. */
export function parseHistory(bytes: Uint8Array): FileHistory {
  const commits: Commit[] = [];
  const names = new Set<string>();
  const records = splitRecords(bytes);
  for (const record of records) {
    const text = record.toString('utf8').replace(/^\n/, '');
    if (/^[RC]\d*$/.test(text)) {
      const from = records.next().value;
      records.next();
      if (from !== undefined && text.startsWith('R')) names.add(from.toString('utf8'));
    } else if (/^[A-Z]$/.test(text)) records.next();
    else commits.push(...parseCommit(record));
  }
  return { commits, earlierNames: [...names] };
}
