import { dirname, join } from 'node:path';
import { HandoverError } from '../../../errors.ts';
import { removeFile } from '../../../platform/durable-file.ts';
import { toRelativePath } from '../../../platform/project.ts';
import { ensureProjectFolder, readProjectFile, writeProjectFile } from '../../../platform/project-file.ts';
import { writeCommit } from './commit.ts';
import { mergeMemory } from './merge.ts';
import { exceptFor, listOwnCommits } from './own-commits.ts';
import { isAncestor, moveRef } from './refs.ts';
import { askGit, git, listGit, type Repo } from './repository.ts';
import type { Target } from './target.ts';
import { type NameBlob, readBlob, readTree, type TreeChange, writeTree } from './trees.ts';
import { updateUserIndex } from './user-index.ts';

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
  if (target.isCurrent) bringHome(repo, { from: ours, to, paths }, nameBlob);
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
  if (listOwnCommits(repo, [ours, '--not', theirs], paths).length > 0)
    throw refuseDiverged('the branch has moved on the remote, and has commits of yours that are not there');
  const diff = ['diff-tree', '-r', '-z', '--name-only', '--no-renames'];
  if (base === null || listGit(repo, [...diff, base, theirs, '--', ...exceptFor(paths)]).length > 0)
    throw refuseDiverged('the branch has moved on the remote by more than memory');
}

function refuseDiverged(message: string): HandoverError {
  return new HandoverError('HANDOVER_PUBLISH_DIVERGED', message, {
    hint: 'Your commit is kept. Bring the branch up to date (git pull --rebase), and publish again.',
  });
}

/** Makes worktree and index follow from one commit to another. A file that differs from the first one is not touched. */
function bringHome(
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
    const there = readProjectFile(join(repo.top, path), MAX_BYTES);
    const oid = there === null ? undefined : nameBlob(there);
    if (oid !== before.get(path)?.oid && oid !== entry?.oid) throw refuseEdited(path);
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

const MAX_BYTES = 64 * 1024 * 1024;

function refuseEdited(path: string): HandoverError {
  return new HandoverError(
    'HANDOVER_PUBLISH_CONFLICT',
    `${path} was changed on the remote, and is not as it was published here`,
    {
      hint: 'Your commit is kept. Bring the branch up to date (git pull --rebase), and publish again.',
      data: { paths: [path] },
    },
  );
}
