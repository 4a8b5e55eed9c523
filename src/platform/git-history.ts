import type { Commit } from '../model/workspace.ts';
import { runGitOrNull } from './git.ts';
import { COMMIT_RECORDS, parseCommit, splitRecords } from './git-facts.ts';
import type { Machine } from './machine.ts';

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
