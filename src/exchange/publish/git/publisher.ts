import { join } from 'node:path';
import { HandoverError } from '../../../errors.ts';
import { sha256Hex } from '../../../model/hash.ts';
import { withAsyncLock } from '../../../platform/async-lock.ts';
import { isAbandonedTemp, isTempName, removeFile } from '../../../platform/durable-file.ts';
import { listNames } from '../../../platform/external-file.ts';
import { walkFolder } from '../../../platform/folders.ts';
import type { Machine } from '../../../platform/machine.ts';
import type { GitSettings } from '../../../platform/publish-settings.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import { type PublishRoute, type PublishState, readPublishState, writePublishState } from '../publish-state.ts';
import * as publishing from '../publisher.ts';
import { assertIdentity, listCommits, listUserCommits, MAX_LISTED, writeCommit } from './commits.ts';
import { reconcile } from './reconcile.ts';
import { findCommit, isAncestor, moveRef, recordMovingRefs, releaseRefs } from './refs.ts';
import { FETCHED, fetchCommit, pushCommit } from './remote.ts';
import { ensureWorkFolder, git, gitError, listGit, openRepo, type Repo } from './repository.ts';
import { describeUpstream, findTarget, type Target, type Upstream } from './target.ts';
import * as trees from './trees.ts';

interface GitProject {
  machine: Machine;
  root: string;
  /** Where memory may be; the paths need not exist. */
  paths: readonly string[];
  settings: GitSettings;
}

const MAX_ROUNDS = 8;
const LOCKS = 'locks';

/**
 * Commits exactly the files of memory and pushes them, on the current branch or on a dedicated one. Staged changes are
 * neither committed nor lost. No commit hook runs; a pre-push hook does.
 */
export function openGitPublisher(project: GitProject): publishing.Publisher {
  const { root, machine, settings } = project;
  const repo = openRepo(root, machine);
  const target = findTarget(repo, settings);
  return {
    backend: 'git',
    destination: target.upstream === null ? target.ref : describeUpstream(repo, target.upstream),
    plan: async (content) => planPublication(describeJob(repo, target, project, content)),
    publish: async (content) => {
      const lock = { folder: join(ensureWorkFolder(repo), LOCKS), name: 'publish', clock: machine.clock };
      return await withAsyncLock(lock, async () => {
        removeStaleFiles(repo, content.roots);
        try {
          return publish(describeJob(repo, findTarget(repo, settings), project, content));
        } finally {
          releaseRefs(repo);
        }
      });
    },
  };
}

/** Removes what a killed publication left: git's locks, drafts, temporary files. The caller holds the publication lock. */
function removeStaleFiles(repo: Repo, roots: readonly string[]): void {
  trees.releaseUserIndex(repo);
  releaseRefs(repo);
  for (const name of listNames(repo.workFolder)) if (name !== LOCKS) removeFile(join(repo.workFolder, name));
  for (const root of roots) {
    for (const { path, name, kind } of walkFolder(join(repo.top, repo.prefix, root)))
      if (kind === 'file' && isTempName(name) && isAbandonedTemp(path)) removeFile(path);
  }
}

function describeJob(repo: Repo, target: Target, project: GitProject, content: publishing.ProjectFiles) {
  const { machine, root, settings } = project;
  const route: PublishRoute = { machine, root, destination: `git ${repo.commonDir} ${target.ref}` };
  /** Relative to the repository. */
  const paths = project.paths.map((path) => repo.prefix + path);
  const message = settings.message ?? `handover: memory of ${content.name}`;
  return { repo, target, settings, content, route, paths, message, nameBlob: trees.makeBlobNamer(repo) };
}
type Job = ReturnType<typeof describeJob>;

function planPublication(job: Job): publishing.Plan {
  const { repo, target } = job;
  const tip = findTip(job);
  const { changes, notes } = compare(job, tip);
  if (tip === null || target.upstream === null) return { changes, waiting: [], notes };
  const own = listUnasked(job, tip, target.upstream);
  const warning = own.length === 0 ? [] : [`it will be refused: ${describeUserCommits(own)}`];
  const waiting = redact(job, listCommits(repo, limitToUnpushed(repo, tip, target.upstream)));
  return { changes, waiting, notes: [...notes, ...warning] };
}

function publish(job: Job): publishing.Publication {
  const { ref, upstream } = job.target;
  recordMovingRefs(job.repo, [ref, FETCHED, ...(upstream === null ? [] : [upstream.tracking])]);
  const committed = commit(job);
  let pushed = false;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const tip = findTip(job);
    if (tip === null || upstream === null || isPushed(job.repo, tip, upstream)) {
      saveSyncState(job);
      const isNew = pushed || committed.changes.length > 0;
      return { ...committed, outcome: isNew ? 'published' : 'nothing new', commit: tip };
    }
    pushed = push(job, tip, upstream) || pushed;
  }
  throw raceError(job);
}

/** A dedicated branch that is not here yet continues from the remote-tracking ref. */
function findTip({ repo, target: { ref, isCurrent, upstream } }: Job): string | null {
  const tip = findCommit(repo, ref);
  return tip !== null || isCurrent || upstream === null ? tip : findCommit(repo, upstream.tracking);
}

function compare({ repo, target, content, nameBlob, route }: Job, tip: string | null): Difference {
  if (target.isCurrent) return compareWithCurrent(repo, content, { tip, nameBlob });
  return compareWithDedicated(repo, content, { tip, nameBlob, state: readPublishState(route) });
}

/** Unpushed commits of the user that would be pushed along without being asked for. */
function listUnasked(job: Job, tip: string, upstream: Upstream): string[] {
  const { repo, target, settings, paths } = job;
  if (!target.isCurrent || settings.own_commits === 'push') return [];
  return redact(job, listUserCommits(repo, limitToUnpushed(repo, tip, upstream), paths));
}

function limitToUnpushed(repo: Repo, tip: string, { tracking, remote }: Upstream): string[] {
  return [tip, '--not', findCommit(repo, tracking) ?? `--remotes=${remote}`];
}

function redact({ route: { machine, root } }: Job, commits: readonly string[]): string[] {
  if (commits.length === 0) return [];
  const redactor = openRedactor(machine, { folder: root, makesKey: false });
  return commits.map((text) => redactor.redactText(text));
}

function saveSyncState({ target, content, route }: Job): void {
  if (target.isCurrent) return;
  const entries = content.files.map(({ path, bytes }) => [path, { sha256: sha256Hex(bytes), version: '' }] as const);
  writePublishState(route, new Map(entries));
}

/** Commits the files on the branch, again whenever others moved it meanwhile. */
function commit(job: Job): Pick<publishing.Publication, 'changes' | 'notes'> {
  const { repo, target, message } = job;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = findTip(job);
    const { changes, tree: entries, blobs, notes } = compare(job, before);
    if (entries.length === 0) return { changes, notes };
    assertIdentity(repo);
    trees.writeBlobs(repo, blobs);
    const to = writeCommit(repo, { tree: trees.writeTree(repo, before, entries), parent: before, message });
    if (target.isCurrent) trees.updateUserIndex(repo, entries);
    const from = findCommit(repo, target.ref) === null ? null : before;
    if (moveRef(repo, target.ref, { from, to })) return { changes, notes };
  }
  throw raceError(job);
}

function raceError({ target }: Job): HandoverError {
  const hint = 'Nothing is lost: try again later.';
  return new HandoverError('HANDOVER_REMOTE_BUSY', `other processes keep moving ${target.ref}`, { hint });
}

function isPushed(repo: Repo, tip: string, { tracking }: Upstream): boolean {
  const known = findCommit(repo, tracking);
  return known !== null && isAncestor(repo, tip, known);
}

/** False when the remote had moved; the branch is reconciled with it then, and must be pushed again. */
function push(job: Job, tip: string, upstream: Upstream): boolean {
  const { repo, target, settings, paths, message, nameBlob } = job;
  const own = listUnasked(job, tip, upstream);
  if (own.length > 0)
    throw new HandoverError('HANDOVER_PUBLISH_UNASKED', describeUserCommits(own), {
      hint: 'Push them yourself (git push), which pushes memory too; or give memory a dedicated branch (ref), or set own_commits = "push", below [publish.git] in your config.toml.',
      data: { commits: own },
    });
  if (pushCommit(repo, { commit: tip, upstream }, settings) === 'pushed') {
    recordPushed(repo, tip, upstream);
    return true;
  }
  const theirs = fetchCommit(repo, upstream, settings);
  if (theirs === null) return false;
  if (!isAncestor(repo, theirs, tip)) reconcile(repo, { target, ours: tip, theirs, paths, message }, nameBlob);
  recordPushed(repo, theirs, upstream);
  return false;
}

/** Git does this by itself only where the remote's refspec covers the branch. */
function recordPushed(repo: Repo, to: string, { tracking }: Upstream): void {
  const from = findCommit(repo, tracking);
  if (from === null || !isAncestor(repo, to, from)) moveRef(repo, tracking, { from, to });
}

function describeUserCommits(commits: readonly string[]): string {
  const [first = ''] = commits;
  const count = commits.length < MAX_LISTED ? `${commits.length}` : `${MAX_LISTED} or more`;
  const what = commits.length === 1 ? 'a commit of yours is' : `${count} commits of yours are`;
  return `${what} not pushed yet and would be pushed too: ${first}`;
}

/** How the files on disk differ from a commit. */
interface Difference {
  changes: publishing.Change[];
  tree: trees.TreeChange[];
  blobs: Uint8Array[];
  notes: string[];
}

/** `tip` is null for a branch without a commit. */
type CompareOptions = { tip: string | null; nameBlob: trees.NameBlob };

/** For the branch that is checked out: deleted files are deleted there, ignored files are not published. */
function compareWithCurrent(repo: Repo, content: publishing.ProjectFiles, options: CompareOptions): Difference {
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
function compareWithDedicated(
  repo: Repo,
  { files, roots }: publishing.ProjectFiles,
  { tip, nameBlob, state }: CompareOptions & { state: PublishState },
): Difference {
  const before = readTip(repo, tip, roots);
  const leaving = files.filter((file) => {
    if (isThere(repo, file, before, nameBlob)) return false;
    return !before.has(repo.prefix + file.path) || state.get(file.path)?.sha256 !== sha256Hex(file.bytes);
  });
  return describe(repo, leaving, before, nameBlob);
}

type Before = ReadonlyMap<string, trees.TreeEntry>;

function readTip(repo: Repo, tip: string | null, roots: readonly string[]): Before {
  const paths = roots.map((path) => repo.prefix + path);
  return tip === null ? new Map() : trees.readTree(repo, tip, paths);
}

function isThere(
  repo: Repo,
  { path, bytes }: publishing.OutgoingFile,
  before: Before,
  nameBlob: trees.NameBlob,
): boolean {
  return before.get(repo.prefix + path)?.oid === nameBlob(bytes);
}

function describe(
  { prefix }: Repo,
  files: publishing.OutgoingFile[],
  before: Before,
  nameBlob: trees.NameBlob,
): Difference {
  const difference: Difference = { changes: [], tree: [], blobs: [], notes: [] };
  for (const { path, bytes } of files) {
    const known = before.get(prefix + path);
    const mode = known?.mode === '100755' ? '100755' : trees.PLAIN_FILE;
    difference.changes.push({ path, change: known === undefined ? 'new' : 'changed', bytes: bytes.length });
    difference.tree.push([prefix + path, { mode, oid: nameBlob(bytes) }]);
    difference.blobs.push(bytes);
  }
  return difference;
}

/** Keeps hidden files, files left out, and files that a sparse checkout does not have on disk. */
function listGone(repo: Repo, { files, leftOut, roots }: publishing.ProjectFiles, before: Before): string[] {
  const present = new Set([...files.map(({ path }) => path), ...leftOut].map((path) => repo.prefix + path));
  const tops = roots.map((name) => repo.prefix + name);
  const gone = [...before.keys()].filter((path) => {
    const root = tops.find((name) => path === name || path.startsWith(`${name}/`));
    return !present.has(path) && root !== undefined && !publishing.isHidden(path.slice(root.length));
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
