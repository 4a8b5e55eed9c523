import { basename, join } from 'node:path';
import { catchIf, isFailure } from '../errors.ts';
import { cleanLine, revealControls } from '../model/text.ts';
import { formatTimestamp } from '../model/time.ts';
import type { ChangedFile, Commit, GitFacts, GitOperation } from '../model/workspace.ts';
import { isOwnTempName } from './durable-file.ts';
import { pathExists, requireFolder } from './folders.ts';
import {
  type GitOptions,
  type Head,
  locateRepository,
  type Repository,
  runGitOrNull,
  runWithoutFilters,
} from './git.ts';
import type { Machine } from './machine.ts';
import { findOddGitFile } from './worktree.ts';

type StatusFacts = Omit<GitFacts, 'operation' | 'commits'>;

const MAX_CHANGED = 500;
const MAX_COMMITS = 10;
const MAX_SUBJECT_CHARACTERS = 200;
const MAX_LOG_BYTES = 4 * 1024 * 1024;

/** What git may take for all of it. Most worktrees take a hundredth. */
const FACTS_MS = 3000;
const LEAST_MS = 300;

/** Null outside git, in a bare repository and without git. `changed_total` is null where git cannot list in time. */
export function readGitFacts(
  root: string,
  machine: Machine,
  options: { timeoutMs?: number; repository?: Repository } = {},
): GitFacts | null {
  const repository = options.repository ?? locateRepository(requireFolder(root), machine.env);
  if (repository.state !== 'present' || repository.top === null) return null;
  const until = Date.now() + (options.timeoutMs ?? FACTS_MS);
  const { top: cwd } = repository;
  const limit = (): GitOptions => ({ cwd, env: machine.env, timeoutMs: Math.max(LEAST_MS, until - Date.now()) });
  const { upstream, ...head } = readHead(limit());
  const commits = head.commit === null ? [] : readCommits(limit());
  const status = readStatus(repository, head, limit());
  const branch = head.ref === null ? null : revealControls(head.ref.replace(/^refs\/heads\//, ''));
  return {
    ...(status ?? { ...parseStatus(new Uint8Array(), 0), ...UNKNOWN_CHANGES, branch, head: head.commit }),
    ...upstream,
    upstream: upstream.upstream === null ? null : revealControls(upstream.upstream),
    operation: findOperation(repository.gitDir),
    commits,
  };
}

function readHead(git: GitOptions): Head & { upstream: Pick<GitFacts, 'upstream' | 'ahead' | 'behind'> } {
  const ask = (...args: string[]): string => runGitOrNull(args, git)?.stdout.toString('utf8') ?? '';
  const [, ref = null] = /^(refs\/(?!.*\.\.).+)\n$/.exec(ask('symbolic-ref', '--quiet', 'HEAD')) ?? [];
  if (ref === null) {
    const commit = ask('rev-parse', '--verify', '--quiet', 'HEAD^{commit}').trim() || null;
    return { ref, commit, upstream: { upstream: null, ahead: null, behind: null } };
  }
  const answer = ask('for-each-ref', '--format=%(objectname) %(upstream:track)%(upstream:short)', ref);
  const [, commit = null, track = '', upstream = null] = /^(\w+) (?:\[(.*?)\])?(.+)?\n$/.exec(answer) ?? [];
  const count = (side: RegExp): number | null =>
    upstream === null || track === 'gone' ? null : Number(side.exec(track)?.[1] ?? 0);
  return { ref, commit, upstream: { upstream, ahead: count(/ahead (\d+)/), behind: count(/behind (\d+)/) } };
}

/** Not the contents of submodules: git would start itself in them, under their own configuration. */
const STATUS = [
  ...['status', '--porcelain=v2', '--branch', '--no-ahead-behind', '-z'],
  ...['--untracked-files=normal', '--ignored=no', '--renames', '--ignore-submodules=dirty'],
];

function readStatus(repository: Repository, head: Head, git: GitOptions): StatusFacts | null {
  if (findOddGitFile(git.cwd, { forStatus: true }) !== null) return null;
  const result = catchIf(isFailure, null, () => runWithoutFilters(STATUS, { ...repository, head }, git));
  if (result === null || (result.status !== 0 && !result.truncated)) return null;
  const facts = parseStatus(result.stdout, MAX_CHANGED);
  // Git may know forms of repository that are not known here.
  if (facts.head !== head.commit) return null;
  return result.truncated ? { ...facts, ...UNKNOWN_CHANGES } : facts;
}

const UNKNOWN_CHANGES = { changed_total: null, changed_cut: true };

/** The trailer of our commits that contain only memory. */
export const MEMORY_TRAILER = 'Handover: memory';

/** Makes `git log` skip those, whatever pattern type is configured: listed in memory, they would change it again. */
export const NOT_OF_MEMORY: readonly string[] = ['--basic-regexp', '--invert-grep', `--grep=^${MEMORY_TRAILER}$`];

/** The form in which `splitRecords` and `parseCommit` read the output of `git log`, whatever is configured. */
const COMMIT_RECORDS: readonly string[] = [
  ...['-z', '--format=tformat:%H %ct %s', '--encoding=UTF-8', '--no-ext-diff', '--no-textconv'],
  ...['--no-notes', '--no-color', '--no-show-signature'],
];

function readCommits(git: GitOptions, which: readonly string[] = [`--max-count=${MAX_COMMITS}`]): Commit[] {
  const log = ['log', ...NOT_OF_MEMORY, ...which, ...COMMIT_RECORDS, '--no-patch', 'HEAD', '--'];
  const result = runGitOrNull(log, { ...git, maxBytes: MAX_LOG_BYTES });
  return result === null ? [] : [...splitRecords(result.stdout)].flatMap(parseCommit);
}

const MAX_COMMITS_SINCE = 1000;

/** The commits of the current branch since then, newest first. Empty outside git. */
export function readCommitsSince(root: string, sinceMs: number, { env }: Machine): Commit[] {
  const which = [`--since=@${Math.floor(sinceMs / 1000)}`, `--max-count=${MAX_COMMITS_SINCE}`];
  return readCommits({ cwd: root, env, timeoutMs: FACTS_MS }, which);
}

function parseCommit(record: Buffer): Commit[] {
  const [, hash, seconds, subject] = /^([0-9a-f]{40,64}) (-?\d+) (.*)$/s.exec(record.toString('utf8')) ?? [];
  if (hash === undefined || subject === undefined) return [];
  const shown = cutCharacters(cleanLine(subject), MAX_SUBJECT_CHARACTERS);
  return [{ hash, at: formatTimestamp(Number(seconds) * 1000), subject: shown }];
}

export function cutCharacters(text: string, most: number): string {
  return [...text.slice(0, 2 * most)].slice(0, most).join('').trimEnd();
}

/** A rebase stops within merges and picks of its own, so it comes first. */
const OPERATION_SIGNS: readonly (readonly [sign: string, operation: GitOperation])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply/applying', 'am'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
];

export function findOperation(gitDir: string): GitOperation | null {
  return OPERATION_SIGNS.find(([sign]) => pathExists(join(gitDir, sign)))?.[1] ?? null;
}

interface TrackedChange {
  staged: ChangedFile | null;
  unstaged: ChangedFile | null;
}

/**
 * Parses `git status --porcelain=v2 --branch -z`. Never throws: unknown or truncated records are skipped, and so are our
 * own temp files. At most `limit` files are listed: conflicts, then tracked, then untracked ones.
 */
export function parseStatus(bytes: Uint8Array, limit: number): StatusFacts {
  const headers = new Map<string, string>();
  const conflicted: string[] = [];
  const changes: TrackedChange[] = [];
  const untracked: string[] = [];
  let total = 0;
  const records = splitRecords(bytes);
  for (const record of records) {
    const kind = String.fromCharCode(record[0] ?? 0);
    if (kind === '#') {
      const [, key, value] = /^# (branch\.[a-z]+) (.+)$/s.exec(record.toString('utf8')) ?? [];
      if (key !== undefined && value !== undefined) headers.set(key, revealControls(value));
      continue;
    }
    const from = kind === '2' ? records.next().value : undefined;
    const fieldsBefore = FIELDS_BEFORE_PATH.get(kind);
    if (fieldsBefore === undefined || (kind === '2' && from === undefined)) continue;
    const path = skipFields(record, fieldsBefore);
    if (path === null || (kind === '?' && isOwnTempName(basename(path.toString('utf8'))))) continue;
    total += 1;
    if (kind === '?') addWithin(untracked, limit, () => showName(path));
    else if (kind === 'u') addWithin(conflicted, limit, () => showName(path));
    else addWithin(changes, limit, () => describeChange(record, showName(path), from && showName(from)));
  }
  const tracked = changes.slice(0, limit - conflicted.length);
  const listed = conflicted.length + tracked.length;
  return {
    ...describeBranch(headers),
    staged: tracked.flatMap(({ staged }) => staged ?? []),
    unstaged: tracked.flatMap(({ unstaged }) => unstaged ?? []),
    untracked: untracked.slice(0, limit - listed),
    conflicted,
    changed_total: total,
    changed_cut: Math.min(listed + untracked.length, limit) < total,
  };
}

/** As names are shown: nobody opens what git lists, and a handover keeps no character that is not seen. */
function showName(bytes: Buffer): string {
  return revealControls(bytes.toString('utf8'));
}

/** How many space-separated fields stand before the path, by the kind of record. */
const FIELDS_BEFORE_PATH: ReadonlyMap<string, number> = new Map([
  ['1', 8],
  ['2', 9],
  ['u', 10],
  ['?', 1],
]);

function* splitRecords(bytes: Uint8Array): Generator<Buffer, undefined> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let start = 0;
  for (let end = buffer.indexOf(0); end !== -1; end = buffer.indexOf(0, start)) {
    yield buffer.subarray(start, end);
    start = end + 1;
  }
  return undefined;
}

function skipFields(record: Buffer, count: number): Buffer | null {
  let start = 0;
  for (let field = 0; field < count; field++) {
    const space = record.indexOf(0x20, start);
    if (space === -1) return null;
    start = space + 1;
  }
  return start < record.length ? record.subarray(start) : null;
}

function addWithin<T>(list: T[], limit: number, make: () => T): void {
  if (list.length < limit) list.push(make());
}

const CHANGES: ReadonlyMap<string, ChangedFile['change']> = new Map([
  ['A', 'added'],
  ['M', 'modified'],
  ['D', 'deleted'],
  ['R', 'renamed'],
  ['C', 'copied'],
  ['T', 'type-changed'],
]);

function describeChange(record: Buffer, path: string, from: string | undefined): TrackedChange {
  const describeSide = (code: number | undefined): ChangedFile | null => {
    const change = CHANGES.get(String.fromCharCode(code ?? 0));
    if (change === undefined) return null;
    const moved = change === 'renamed' || change === 'copied';
    return moved && from !== undefined ? { path, change, from } : { path, change };
  };
  return { staged: describeSide(record[2]), unstaged: describeSide(record[3]) };
}

function describeBranch(
  headers: ReadonlyMap<string, string>,
): Pick<StatusFacts, 'branch' | 'head' | 'upstream' | 'ahead' | 'behind'> {
  const head = headers.get('branch.oid') ?? null;
  const branch = headers.get('branch.head') ?? null;
  const [, ahead, behind] = /^\+(\d{1,15}) -(\d{1,15})$/.exec(headers.get('branch.ab') ?? '') ?? [];
  return {
    branch: branch === '(detached)' ? null : branch,
    head: head === '(initial)' ? null : head,
    upstream: headers.get('branch.upstream') ?? null,
    ahead: ahead === undefined ? null : Number(ahead),
    behind: behind === undefined ? null : Number(behind),
  };
}

/** The history of a file, or of the files below a folder or matching a pattern. */
export interface FileHistory {
  /** The commits that changed it, the newest first. */
  commits: Commit[];
  /** Its earlier paths, from the root of the worktree. */
  earlierNames: string[];
}

interface HistoryQuestion {
  kind: 'file' | 'folder' | 'pattern';
  /** From the root of the worktree. */
  path: string;
  /** Only commits that added or removed this text. */
  symbol: string | null;
  limit: number;
}

const HISTORY_TIMEOUT_MS = 3000;

/** Empty where git does not know the file, is missing, or takes too long. */
export function readFileHistory(root: string, asked: HistoryQuestion, machine: Machine): FileHistory {
  const { kind, path, symbol, limit } = asked;
  const follows = kind === 'file' && path !== '';
  const args = [
    ...['log', `--max-count=${limit}`, ...COMMIT_RECORDS, '--name-status', ...(follows ? ['--follow'] : [])],
    ...(symbol === null ? [] : [`-S${symbol}`]),
    ...['HEAD', '--', path === '' ? '.' : path],
  ];
  const magic = kind === 'pattern' ? 'GIT_GLOB_PATHSPECS' : 'GIT_LITERAL_PATHSPECS';
  const result = runGitOrNull(args, {
    cwd: root,
    env: machine.env,
    variables: { [magic]: '1' },
    timeoutMs: HISTORY_TIMEOUT_MS,
    maxBytes: MAX_LOG_BYTES,
  });
  if (result === null || result.status !== 0) return { commits: [], earlierNames: [] };
  const history = parseHistory(result.stdout);
  return follows ? history : { ...history, earlierNames: [] };
}

/** Parses commits, each followed by a status and one or two paths for every file. Never throws: unknown records are skipped. */
function parseHistory(bytes: Uint8Array): FileHistory {
  const commits: Commit[] = [];
  const names = new Set<string>();
  const records = splitRecords(bytes);
  for (const record of records) {
    const text = record.toString('utf8').replace(/^\n/, '');
    if (/^[RC]\d*$/.test(text)) {
      const from = records.next().value;
      records.next();
      if (from !== undefined && text.startsWith('R')) names.add(showName(from));
    } else if (/^[A-Z]$/.test(text)) records.next();
    else commits.push(...parseCommit(record));
  }
  return { commits, earlierNames: [...names] };
}
