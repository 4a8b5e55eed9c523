import { dirname, join } from 'node:path';
import { HandoverError } from '../../../errors.ts';
import { compareCodeUnits } from '../../../model/hash.ts';
import { removeFile, writeFileDurably } from '../../../platform/durable-file.ts';
import { toRelativePath } from '../../../platform/project.ts';
import { ensureProjectFolder, readProjectFile, writeProjectFile } from '../../../platform/project-file.ts';
import { listUserCommits, outsideOf, writeCommit } from './commits.ts';
import { isAncestor, moveRef } from './refs.ts';
import { ensureWorkFolder, git, gitError, listGit, type Repo, requireGit } from './repository.ts';
import type { Target } from './target.ts';
import * as trees from './trees.ts';

const MAX_FILE_BYTES = 64 * 1024 * 1024;
const UP_TO_DATE = 'Your commit is kept. Bring the branch up to date (git pull --rebase), and publish again.';

type Tree = ReadonlyMap<string, trees.TreeEntry>;

interface Sides {
  /** The common ancestor. */
  base: string | null;
  ours: string;
  theirs: string;
  /** Paths of memory, relative to the repository. */
  paths: readonly string[];
}

/** The changes to the tree of `theirs` that add what `ours` changed below `paths`. */
function mergeMemory(repo: Repo, sides: Sides, nameBlob: trees.NameBlob): trees.TreeChange[] {
  const read = (commit: string): Tree => trees.readTree(repo, commit, sides.paths);
  const base: Tree = sides.base === null ? new Map() : read(sides.base);
  const [ours, theirs] = [read(sides.ours), read(sides.theirs)];
  const conflicts: string[] = [];
  const changes: trees.TreeChange[] = [];
  for (const path of [...new Set([...ours.keys(), ...theirs.keys()])].sort(compareCodeUnits)) {
    const [from, our, their] = [base.get(path), ours.get(path), theirs.get(path)];
    if (isSame(our, their) || isSame(our, from)) continue;
    if (isSame(their, from)) {
      changes.push([path, our ?? null]);
      continue;
    }
    const isInBoth = our !== undefined && their !== undefined;
    const merged = isInBoth ? mergeFile(repo, path, [our, from, their]) : null;
    if (merged === null) conflicts.push(path);
    else {
      trees.writeBlobs(repo, [merged]);
      changes.push([path, { mode: trees.PLAIN_FILE, oid: nameBlob(merged) }]);
    }
  }
  const [first, ...others] = conflicts;
  if (first === undefined) return changes;
  const what = `${first}${others.length === 0 ? '' : ` and ${others.length} more`}`;
  const message = `${what} was changed here and on the remote in the same lines`;
  throw new HandoverError('HANDOVER_PUBLISH_CONFLICT', message, {
    hint: 'Your commit is kept and not pushed. Merge by hand (git pull --rebase), and publish again.',
    data: { paths: conflicts },
  });
}

function isSame(a: trees.TreeEntry | undefined, b: trees.TreeEntry | undefined): boolean {
  return a?.oid === b?.oid && a?.mode === b?.mode;
}

/** `entries` are ours, base and theirs. Null when both changed the same lines. Notes are append-only: of two additions at one place both are kept. */
function mergeFile(repo: Repo, path: string, entries: (trees.TreeEntry | undefined)[]): Uint8Array | null {
  const blobs = entries.map((entry) => (entry === undefined ? Buffer.of() : trees.readBlob(repo, entry.oid)));
  const folder = ensureWorkFolder(repo);
  const files = ['ours', 'base', 'theirs'].map((side) => join(folder, `merge-${side}`));
  try {
    for (const [at, file] of files.entries()) writeFileDurably(file, blobs[at] ?? Buffer.of());
    const union = /(?:^|\/)layer1\//.test(path) ? ['--union'] : [];
    const args = ['merge-file', '-p', '--quiet', ...union, '--', ...files];
    const result = git(repo, args);
    if (result.status === 0) return result.stdout;
    if (result.status !== null && result.status < 128) return null;
    throw gitError(repo, args, result);
  } finally {
    for (const file of files) removeFile(file);
  }
}

type Divergence = Omit<Sides, 'base'> & { target: Target; message: string };

/**
 * Rebases what was published here onto the remote's commit. On the branch that is checked out this is refused unless
 * only files of memory differ and no commit of the user would be replaced; index and worktree are updated.
 */
export function reconcile(repo: Repo, divergence: Divergence, nameBlob: trees.NameBlob): void {
  const { target, ours, theirs, paths, message } = divergence;
  const sides = { base: findBase(repo, ours, theirs), ours, theirs, paths };
  if (target.isCurrent) assertOnlyMemoryMoves(repo, sides);
  const changes = mergeMemory(repo, sides, nameBlob);
  const tree = trees.writeTree(repo, theirs, changes);
  const isTheirs = tree === requireGit(repo, ['rev-parse', '--verify', `${theirs}^{tree}`]);
  const to = isTheirs ? theirs : writeCommit(repo, { tree, parent: theirs, message });
  if (target.isCurrent)
    updateWorktree(repo, trees.readTree(repo, ours, paths), trees.readTree(repo, to, paths), nameBlob);
  moveRef(repo, target.ref, { from: ours, to });
}

function findBase(repo: Repo, ours: string, theirs: string): string | null {
  if (isAncestor(repo, ours, theirs)) return ours;
  const result = git(repo, ['merge-base', ours, theirs]);
  const base = result.stdout.toString('utf8').trim();
  return result.status === 0 && base !== '' ? base : null;
}

function assertOnlyMemoryMoves(repo: Repo, { base, ours, theirs, paths }: Sides): void {
  if (listUserCommits(repo, [ours, '--not', theirs], paths).length > 0)
    throw divergedError('the branch has changed on the remote, and has commits of yours that are not there');
  const diff = ['diff-tree', '-r', '-z', '--name-only', '--no-renames'];
  if (base === null || listGit(repo, [...diff, base, theirs, '--', ...outsideOf(paths)]).length > 0)
    throw divergedError('the branch has changed on the remote outside memory');
}

function divergedError(message: string): HandoverError {
  return new HandoverError('HANDOVER_PUBLISH_DIVERGED', message, { hint: UP_TO_DATE });
}

/** Updates worktree and index. Fails, with nothing changed, when a file was edited since `before`. */
function updateWorktree(repo: Repo, before: Tree, after: Tree, nameBlob: trees.NameBlob): void {
  const changes = [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => before.get(path)?.oid !== after.get(path)?.oid)
    .map((path): trees.TreeChange => [path, after.get(path) ?? null]);
  for (const [path, entry] of changes) {
    const there = readProjectFile(join(repo.top, path), MAX_FILE_BYTES);
    const oid = there === null ? undefined : nameBlob(there);
    if (oid === before.get(path)?.oid || oid === entry?.oid) continue;
    const message = `${path} was changed on the remote, and was edited here since it was published`;
    const data = { paths: [path] };
    throw new HandoverError('HANDOVER_PUBLISH_CONFLICT', message, { hint: UP_TO_DATE, data });
  }
  for (const [path, entry] of changes) {
    const file = join(repo.top, path);
    if (entry === null) removeFile(file);
    else {
      const parts = toRelativePath(repo.top, dirname(file)).split('/');
      ensureProjectFolder(repo.top, ...parts.filter((part) => part !== ''));
      writeProjectFile(file, trees.readBlob(repo, entry.oid));
    }
  }
  if (changes.length > 0) trees.updateUserIndex(repo, changes);
}
