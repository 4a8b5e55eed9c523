import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { catchIf, HandoverError, isFailure } from '../../../errors.ts';
import { removeFile } from '../../../platform/durable-file.ts';
import { type GitOptions, runWithoutFilters } from '../../../platform/git.ts';
import {
  describeVersion,
  removeOwnLockFile,
  replaceWithCopy,
  swapUnderLockFile,
} from '../../../platform/lock-file-swap.ts';
import { sleep } from '../../../platform/machine.ts';
import { DURABLE, ensureWorkFolder, git, gitError, listGit, type Repo, requireGit } from './repository.ts';

export type TreeEntry = { mode: string; oid: string };

/** A path and its new entry; null removes it. */
export type TreeChange = readonly [path: string, entry: TreeEntry | null];

export const PLAIN_FILE = '100644';

/** The files at and below `paths`, by path. Names that are not UTF-8 are skipped. */
export function readTree(repo: Repo, commit: string, paths: readonly string[]): Map<string, TreeEntry> {
  const entries = new Map<string, TreeEntry>();
  if (paths.length === 0) return entries;
  for (const record of listGit(repo, ['ls-tree', '-r', '-z', '--full-tree', commit, '--', ...paths])) {
    const [, mode, oid, path] = /^(\d{6}) \w+ ([0-9a-f]+)\t(.+)$/s.exec(record) ?? [];
    if (mode === undefined || oid === undefined || path === undefined || path.includes('\ufffd')) continue;
    entries.set(path, { mode, oid });
  }
  return entries;
}

/** Git's object id of a blob. */
export type NameBlob = (bytes: Uint8Array) => string;

export function makeBlobNamer(repo: Repo): NameBlob {
  const format = requireGit(repo, ['rev-parse', '--show-object-format']);
  const algorithm = format === 'sha256' ? 'sha256' : 'sha1';
  return (bytes) => createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** One process for all blobs. */
export function writeBlobs(repo: Repo, blobs: readonly Uint8Array[]): void {
  if (blobs.length === 0) return;
  const end = Buffer.from('\n');
  const parts = blobs.flatMap((bytes) => [Buffer.from(`blob\ndata ${bytes.length}\n`), bytes, end]);
  const input = Buffer.concat([...parts, Buffer.from('done\n')]);
  requireGit(repo, ['fast-import', '--quiet', '--done'], { input });
}

export function readBlob(repo: Repo, oid: string): Buffer {
  const args = ['cat-file', 'blob', oid];
  const result = git(repo, args);
  if (result.status === 0 && !result.truncated) return result.stdout;
  throw gitError(repo, args, result);
}

/** Writes the tree of a commit with changes applied, by means of a temporary index. */
export function writeTree(repo: Repo, from: string | null, changes: readonly TreeChange[]): string {
  const index = join(ensureWorkFolder(repo), 'tree-index');
  for (const left of [index, `${index}.lock`]) removeFile(left);
  const variables = { GIT_INDEX_FILE: index };
  try {
    requireGit(repo, ['read-tree', from ?? '--empty'], { variables });
    changeIndex(repo, changes, index);
    return requireGit(repo, ['write-tree'], { variables });
  } finally {
    removeFile(index);
  }
}

function indexOptions(repo: Repo, index: string): GitOptions {
  const variables = { GIT_INDEX_FILE: index };
  return { cwd: repo.top, env: repo.machine.env, variables, settings: DURABLE, timeoutMs: 60_000 };
}

/** An optimisation for later git commands: its result does not matter. */
function refresh(repo: Repo, index: string): void {
  catchIf(isFailure, null, () =>
    runWithoutFilters(['update-index', '-q', '--refresh'], repo, indexOptions(repo, index)),
  );
}

/** `index` is a private copy. */
function changeIndex(repo: Repo, changes: readonly TreeChange[], index: string): void {
  const [gone, set]: [string[], string[]] = [[], []];
  for (const [path, entry] of changes)
    if (entry === null) gone.push(`${path}\0`);
    else set.push(`${entry.mode} ${entry.oid}\t${path}\0`);
  // Git looks again at entries as new as the index itself, through their filters.
  const update = (options: readonly string[], records: readonly string[]): void => {
    const args = ['update-index', '-z', ...options];
    const result = runWithoutFilters(args, repo, { ...indexOptions(repo, index), input: records.join('') });
    if (result.status !== 0) throw gitError(repo, args, result);
  };
  if (gone.length > 0) update(['--force-remove', '--stdin'], gone);
  update(['--replace', '--add', '--index-info'], set);
}

function pathsOf(repo: Repo): { index: string; draft: string } {
  return { index: join(repo.gitDir, 'index'), draft: join(ensureWorkFolder(repo), 'user-index') };
}

/** Removes the lock that a killed publication may have left on the user's index. */
export function releaseUserIndex(repo: Repo): void {
  const { index, draft } = pathsOf(repo);
  removeOwnLockFile(index, draft);
}

/**
 * Changes entries of the user's index and keeps everything staged. Must come before the branch moves: a kill in between
 * then leaves the new content staged; the other way round it would leave its removal staged.
 */
export function updateUserIndex(repo: Repo, changes: readonly TreeChange[]): void {
  const { index, draft } = pathsOf(repo);
  for (let tries = 0; tries < 60; tries++) {
    const version = describeVersion(index);
    replaceWithCopy(index, draft);
    changeIndex(repo, changes, draft);
    refresh(repo, draft);
    removeFile(`${draft}.lock`);
    if (swapUnderLockFile(index, draft, version) === 'done') return;
    sleep(50);
  }
  const hint = `Try again when it is done. If none is running, remove ${index}.lock`;
  throw new HandoverError('HANDOVER_GIT_BUSY', `another git process is using ${repo.top}`, { hint });
}
