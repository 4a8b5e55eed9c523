import { dirname, join } from 'node:path';
import { HandoverError } from '../../../errors.ts';
import { compareCodeUnits } from '../../../model/hash.ts';
import { removeFile, writeFileDurably } from '../../../platform/durable-file.ts';
import { toRelativePath } from '../../../platform/place.ts';
import { ensureProjectFolder, readProjectFile, writeProjectFile } from '../../../platform/project-file.ts';
import { listUserCommits, outsideOf, writeCommit } from './commits.ts';
import { isAncestor, moveRef } from './refs.ts';
import { askGit, ensureWorkFolder, git, gitError, listGit, type Repo } from './repository.ts';
import type { Target } from './target.ts';
import {
  type NameBlob,
  PLAIN_FILE,
  readBlob,
  readTree,
  type TreeChange,
  type TreeEntry,
  updateUserIndex,
  writeBlobs,
  writeTree,
} from './trees.ts';

/** Two commits with the one that both come from; null for none. */
export interface Sides {
  base: string | null;
  ours: string;
  theirs: string;
}

type Side = ReadonlyMap<string, TreeEntry>;

/** What has to change in the tree of `theirs` so that it holds what both have done below `paths`. */
export function mergeMemory(
  repo: Repo,
  sides: Sides,
  { paths, nameBlob }: { paths: readonly string[]; nameBlob: NameBlob },
): TreeChange[] {
  const base: Side = sides.base === null ? new Map() : readTree(repo, sides.base, paths);
  const ours = readTree(repo, sides.ours, paths);
  const theirs = readTree(repo, sides.theirs, paths);
  const conflicts: string[] = [];
  const changes: TreeChange[] = [];
  for (const path of [...new Set([...ours.keys(), ...theirs.keys()])].sort(compareCodeUnits)) {
    const [from, our, their] = [base.get(path), ours.get(path), theirs.get(path)];
    if (isSame(our, their) || isSame(our, from)) continue;
    if (isSame(their, from)) changes.push([path, our ?? null]);
    else {
      const merged =
        our === undefined || their === undefined ? null : mergeFile(repo, { path, from, our, their });
      if (merged === null) conflicts.push(path);
      else {
        writeBlobs(repo, [merged]);
        changes.push([path, { mode: PLAIN_FILE, oid: nameBlob(merged) }]);
      }
    }
  }
  if (conflicts.length > 0) throw mergeConflictError(conflicts);
  return changes;
}

function isSame(a: TreeEntry | undefined, b: TreeEntry | undefined): boolean {
  return a?.oid === b?.oid && a?.mode === b?.mode;
}

interface FileSides {
  path: string;
  from: TreeEntry | undefined;
  our: TreeEntry;
  their: TreeEntry;
}

/** Notes are only ever added to: of two additions at one place both stay. */
const APPEND_ONLY = /(?:^|\/)layer1\//;

/** Null when both changed the same lines. */
function mergeFile(repo: Repo, { path, from, our, their }: FileSides): Uint8Array | null {
  const folder = ensureWorkFolder(repo);
  const sides = [
    { file: join(folder, 'merge-ours'), bytes: readBlob(repo, our.oid) },
    { file: join(folder, 'merge-base'), bytes: from === undefined ? Buffer.of() : readBlob(repo, from.oid) },
    { file: join(folder, 'merge-theirs'), bytes: readBlob(repo, their.oid) },
  ];
  const files = sides.map(({ file }) => file);
  try {
    for (const { file, bytes } of sides) writeFileDurably(file, bytes);
    const union = APPEND_ONLY.test(path) ? ['--union'] : [];
    const args = ['merge-file', '-p', '--quiet', ...union, '--', ...files];
    const result = git(repo, args);
    if (result.status === 0) return result.stdout;
    if (result.status !== null && result.status < 128) return null;
    throw gitError(repo, args, result);
  } finally {
    for (const file of files) removeFile(file);
  }
}

function mergeConflictError(paths: readonly string[]): HandoverError {
  const [first = ''] = paths;
  const more = paths.length === 1 ? '' : ` and ${paths.length - 1} more`;
  return new HandoverError(
    'HANDOVER_PUBLISH_CONFLICT',
    `${first}${more} was changed here and on the remote in the same lines`,
    {
      hint: 'Your commit is kept and not pushed. Merge by hand (git pull --rebase), and publish again.',
      data: { paths },
    },
  );
}

export interface Divergence {
  target: Target;
  /** What is here, and what was found on the remote. */
  ours: string;
  theirs: string;
  /** Paths of memory, as the repository has them. */
  paths: readonly string[];
  message: string;
}

/**
 * Puts what was published here on top of what the remote has. On the branch that is checked out, only files of memory
 * may differ, and commits of the user's own are not replaced: index and worktree are brought along for memory alone.
 */
export function reconcile(repo: Repo, divergence: Divergence, nameBlob: NameBlob): void {
  const { target, ours, theirs, paths, message } = divergence;
  const base = findBase(repo, ours, theirs);
  if (target.isCurrent) assertOnlyMemoryMoves(repo, { base, ours, theirs, paths });
  const changes = mergeMemory(repo, { base, ours, theirs }, { paths, nameBlob });
  const tree = writeTree(repo, theirs, changes);
  const isTheirs = tree === askGit(repo, ['rev-parse', '--verify', `${theirs}^{tree}`]);
  const to = isTheirs ? theirs : writeCommit(repo, { tree, parent: theirs, message });
  if (target.isCurrent) updateWorktree(repo, { from: ours, to, paths }, nameBlob);
  moveRef(repo, target.ref, { from: ours, to });
}

function findBase(repo: Repo, ours: string, theirs: string): string | null {
  if (isAncestor(repo, ours, theirs)) return ours;
  const result = git(repo, ['merge-base', ours, theirs]);
  const base = result.stdout.toString('utf8').trim();
  return result.status === 0 && base !== '' ? base : null;
}

function assertOnlyMemoryMoves(
  repo: Repo,
  {
    base,
    ours,
    theirs,
    paths,
  }: { base: string | null; ours: string; theirs: string; paths: readonly string[] },
): void {
  if (listUserCommits(repo, [ours, '--not', theirs], paths).length > 0)
    throw divergedError('the branch has moved on the remote, and has commits of yours that are not there');
  const diff = ['diff-tree', '-r', '-z', '--name-only', '--no-renames'];
  if (base === null || listGit(repo, [...diff, base, theirs, '--', ...outsideOf(paths)]).length > 0)
    throw divergedError('the branch has moved on the remote by more than memory');
}

function divergedError(message: string): HandoverError {
  return new HandoverError('HANDOVER_PUBLISH_DIVERGED', message, {
    hint: 'Your commit is kept. Bring the branch up to date (git pull --rebase), and publish again.',
  });
}

/** Makes worktree and index follow from one commit to another. A file that differs from the first one is not touched. */
function updateWorktree(
  repo: Repo,
  { from, to, paths }: { from: string; to: string; paths: readonly string[] },
  nameBlob: NameBlob,
): void {
  const before = readTree(repo, from, paths);
  const after = readTree(repo, to, paths);
  const changes = [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => before.get(path)?.oid !== after.get(path)?.oid)
    .map((path): TreeChange => [path, after.get(path) ?? null]);
  for (const [path, entry] of changes) {
    const there = readProjectFile(join(repo.top, path), MAX_FILE_BYTES);
    const oid = there === null ? undefined : nameBlob(there);
    if (oid !== before.get(path)?.oid && oid !== entry?.oid) throw editedError(path);
  }
  for (const [path, entry] of changes) {
    const file = join(repo.top, path);
    if (entry === null) removeFile(file);
    else {
      ensureProjectFolder(
        repo.top,
        ...toRelativePath(repo.top, dirname(file))
          .split('/')
          .filter((part) => part !== ''),
      );
      writeProjectFile(file, readBlob(repo, entry.oid));
    }
  }
  if (changes.length > 0) updateUserIndex(repo, changes);
}

const MAX_FILE_BYTES = 64 * 1024 * 1024;

function editedError(path: string): HandoverError {
  return new HandoverError(
    'HANDOVER_PUBLISH_CONFLICT',
    `${path} was changed on the remote, and is not as it was published here`,
    {
      hint: 'Your commit is kept. Bring the branch up to date (git pull --rebase), and publish again.',
      data: { paths: [path] },
    },
  );
}
