import { sha256Hex } from '../../../model/hash.ts';
import { type Change, isHidden, type OutgoingFile, type ProjectFiles } from '../publisher.ts';
import type { SyncState } from '../sync-state.ts';
import { git, gitError, listGit, type Repo } from './repository.ts';
import { type NameBlob, PLAIN_FILE, readTree, type TreeChange, type TreeEntry } from './trees.ts';

/** How the files on disk differ from a commit. */
export interface Difference {
  changes: Change[];
  tree: TreeChange[];
  blobs: Uint8Array[];
  notes: string[];
}

/** `tip` is null for a branch without a commit. */
type CompareOptions = { tip: string | null; nameBlob: NameBlob };

/** For the branch that is checked out: deleted files are deleted there, ignored files are not published. */
export function compareWithCurrent(repo: Repo, content: ProjectFiles, options: CompareOptions): Difference {
  const { tip, nameBlob } = options;
  const before = readTip(repo, tip, content.roots);
  const changed = content.files.filter((file) => !isThere(repo, file, before, nameBlob));
  const fresh = changed.map(({ path }) => repo.prefix + path).filter((path) => !before.has(path));
  const ignored = new Set(listIgnored(repo, fresh));
  const leaving = changed.filter(({ path }) => !ignored.has(repo.prefix + path));
  const difference = describe(repo, leaving, before, nameBlob);
  for (const path of listGone(repo, content, before)) {
    difference.changes.push({ path: path.slice(repo.prefix.length), change: 'deleted', bytes: 0 });
    difference.tree.push([path, null]);
  }
  return { ...difference, notes: [...ignored].map((path) => `${path} is not published: git ignores it`) };
}

/**
 * For a dedicated branch. No worktree follows it, so files that others put there are not on disk: only files changed
 * here since the last publication are published, and nothing is deleted.
 */
export function compareWithDedicated(
  repo: Repo,
  { files, roots }: ProjectFiles,
  { tip, nameBlob, state }: CompareOptions & { state: SyncState },
): Difference {
  const before = readTip(repo, tip, roots);
  const leaving = files.filter((file) => {
    if (isThere(repo, file, before, nameBlob)) return false;
    return !before.has(repo.prefix + file.path) || state.get(file.path)?.sha256 !== sha256Hex(file.bytes);
  });
  return describe(repo, leaving, before, nameBlob);
}

type Before = ReadonlyMap<string, TreeEntry>;

function readTip(repo: Repo, tip: string | null, roots: readonly string[]): Before {
  const paths = roots.map((path) => repo.prefix + path);
  return tip === null ? new Map() : readTree(repo, tip, paths);
}

function isThere(repo: Repo, { path, bytes }: OutgoingFile, before: Before, nameBlob: NameBlob): boolean {
  return before.get(repo.prefix + path)?.oid === nameBlob(bytes);
}

function describe({ prefix }: Repo, files: OutgoingFile[], before: Before, nameBlob: NameBlob): Difference {
  const difference: Difference = { changes: [], tree: [], blobs: [], notes: [] };
  for (const { path, bytes } of files) {
    const known = before.get(prefix + path);
    const mode = known?.mode === '100755' ? '100755' : PLAIN_FILE;
    difference.changes.push({ path, change: known === undefined ? 'new' : 'changed', bytes: bytes.length });
    difference.tree.push([prefix + path, { mode, oid: nameBlob(bytes) }]);
    difference.blobs.push(bytes);
  }
  return difference;
}

/** Keeps hidden files, files left out, and files that a sparse checkout does not have on disk. */
function listGone(repo: Repo, { files, leftOut, roots }: ProjectFiles, before: Before): string[] {
  const present = new Set([...files.map(({ path }) => path), ...leftOut].map((path) => repo.prefix + path));
  const tops = roots.map((name) => repo.prefix + name);
  const gone = [...before.keys()].filter((path) => {
    const root = tops.find((name) => path === name || path.startsWith(`${name}/`));
    return !present.has(path) && root !== undefined && !isHidden(path.slice(root.length));
  });
  if (gone.length === 0) return [];
  const variables = { GIT_LITERAL_PATHSPECS: '1' };
  const records = new Set(listGit(repo, ['ls-files', '-t', '-z', '--cached', '--', ...gone], { variables }));
  return gone.filter((path) => !records.has(`S ${path}`));
}

function listIgnored(repo: Repo, paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const args = ['check-ignore', '-z', '--stdin'];
  const result = git(repo, args, { input: paths.map((path) => `${path}\0`).join('') });
  if (result.status !== 0 && result.status !== 1) throw gitError(repo, args, result);
  return result.stdout.toString('utf8').split('\0').filter(Boolean);
}
