import { join } from 'node:path';
import { HandoverError } from '../../../errors.ts';
import { isAbandonedTemp, isTempName, removeFile } from '../../../platform/durable-file.ts';
import { listNames } from '../../../platform/external-file.ts';
import { surveyFolder } from '../../../platform/folders.ts';
import type { Machine } from '../../../platform/machine.ts';
import type { GitSettings } from '../../../platform/publish-settings.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import type { Plan, ProjectFiles, Publication, Publisher } from '../publisher.ts';
import { digest, readSyncState, type SyncRoute, withPublishLock, writeSyncState } from '../sync-state.ts';
import { assertIdentity, listCommits, listUserCommits, MAX_LISTED, writeCommit } from './commits.ts';
import { compareWithCurrent, compareWithOwnBranch, type Difference } from './compare.ts';
import { reconcile } from './reconcile.ts';
import { findCommit, isAncestor, moveRef, recordMovingRefs, releaseRefs } from './refs.ts';
import { FETCHED, fetchCommit, pushCommit } from './remote.ts';
import { ensureWorkFolder, openRepo, type Repo } from './repository.ts';
import { describeUpstream, findTarget, type Target, type Upstream } from './target.ts';
import {
  makeBlobNamer,
  type NameBlob,
  releaseUserIndex,
  updateUserIndex,
  writeBlobs,
  writeTree,
} from './trees.ts';

const LOCKS = 'locks';

/** Where the lock of the repository's publications is. */
export function lockFolderOf(repo: Repo): string {
  return join(ensureWorkFolder(repo), LOCKS);
}

/**
 * Takes away what a publication that was killed has left: locks of git that nobody holds any more, drafts, and files
 * of memory that were half written. The caller holds the lock of the repository's publications.
 */
export function removeStaleFiles(repo: Repo, roots: readonly string[]): void {
  releaseUserIndex(repo);
  releaseRefs(repo);
  for (const name of listNames(repo.workFolder)) if (name !== LOCKS) removeFile(join(repo.workFolder, name));
  for (const root of roots) {
    for (const { path, name, kind } of surveyFolder(join(repo.top, repo.prefix, root)))
      if (kind === 'file' && isTempName(name) && isAbandonedTemp(path)) removeFile(path);
  }
}

export interface GitProject {
  machine: Machine;
  root: string;
  /** Where memory may be, whether it is there or not. */
  paths: readonly string[];
  settings: GitSettings;
}

const MAX_ROUNDS = 8;

/**
 * Commits exactly the files of memory and pushes them, on the current branch to its upstream or on a branch of their
 * own. Nothing that is staged is taken along or lost. No commit hook runs; a pre-push hook does.
 */
export function openGitPublisher(project: GitProject): Publisher {
  const repo = openRepo(project.root, project.machine);
  const target = findTarget(repo, project.settings);
  const destination = target.upstream === null ? target.ref : describeUpstream(repo, target.upstream);
  return {
    backend: 'git',
    destination,
    plan: async (parcel) => planGit(new GitPublication(repo, project, target), parcel),
    publish: async (parcel) => {
      const lock = { folder: lockFolderOf(repo), name: 'publish', clock: project.machine.clock };
      return await withPublishLock(lock, async () => {
        removeStaleFiles(repo, parcel.roots);
        try {
          return publishGit(new GitPublication(repo, project, findTarget(repo, project.settings)), parcel);
        } finally {
          releaseRefs(repo);
        }
      });
    },
  };
}

/** One publication, or the plan of one. */
class GitPublication {
  readonly repo: Repo;
  readonly target: Target;
  readonly settings: GitSettings;
  readonly paths: readonly string[];
  readonly nameBlob: NameBlob;
  readonly #route: SyncRoute;

  constructor(repo: Repo, { machine, root, paths, settings }: GitProject, target: Target) {
    this.repo = repo;
    this.target = target;
    this.settings = settings;
    this.paths = paths.map((path) => repo.prefix + path);
    this.nameBlob = makeBlobNamer(repo);
    this.#route = { machine, root, destination: `git ${repo.commonDir} ${target.ref}` };
  }

  /** A branch of its own that is not here yet goes on from what is known of it on the remote. */
  findTip(): string | null {
    const tip = findCommit(this.repo, this.target.ref);
    if (tip !== null || this.target.isCurrent || this.target.upstream === null) return tip;
    return findCommit(this.repo, this.target.upstream.tracking);
  }

  compare(parcel: ProjectFiles, tip: string | null): Difference {
    const options = { tip, nameBlob: this.nameBlob };
    if (this.target.isCurrent) return compareWithCurrent(this.repo, parcel, options);
    return compareWithOwnBranch(this.repo, parcel, { ...options, arrivals: readSyncState(this.#route) });
  }

  /** Commits that are not known to have arrived, newest first. */
  listWaiting(tip: string, upstream: Upstream): string[] {
    return this.#redact(listCommits(this.repo, this.#limitToWaiting(tip, upstream)));
  }

  /** Those of them that are the user's own, and would be pushed without having been asked for. */
  listUnasked(tip: string, upstream: Upstream): string[] {
    if (!this.target.isCurrent || this.settings.own_commits === 'push') return [];
    return this.#redact(listUserCommits(this.repo, this.#limitToWaiting(tip, upstream), this.paths));
  }

  #limitToWaiting(tip: string, upstream: Upstream): string[] {
    const known = findCommit(this.repo, upstream.tracking);
    return [tip, '--not', known === null ? `--remotes=${upstream.remote}` : known];
  }

  #redact(commits: readonly string[]): string[] {
    if (commits.length === 0) return [];
    const { machine, root: folder } = this.#route;
    const redactor = openRedactor(machine, { folder, makesKey: false });
    return commits.map((commit) => redactor.redactText(commit));
  }

  keepArrivals({ files }: ProjectFiles): void {
    if (this.target.isCurrent) return;
    const arrivals = files.map(({ path, bytes }) => [path, { sha256: digest(bytes), version: '' }] as const);
    writeSyncState(this.#route, new Map(arrivals));
  }

  messageOf({ name }: ProjectFiles): string {
    return this.settings.message ?? `handover: memory of ${name}`;
  }
}

function planGit(work: GitPublication, parcel: ProjectFiles): Plan {
  const { upstream } = work.target;
  const tip = work.findTip();
  const { changes, notes } = work.compare(parcel, tip);
  if (tip === null || upstream === null) return { changes, waiting: [], notes };
  const own = work.listUnasked(tip, upstream);
  const warning = own.length === 0 ? [] : [`it will be refused: ${describeUserCommits(own)}`];
  return { changes, waiting: work.listWaiting(tip, upstream), notes: [...notes, ...warning] };
}

function publishGit(work: GitPublication, parcel: ProjectFiles): Publication {
  const { repo, target } = work;
  const { upstream } = target;
  recordMovingRefs(repo, [target.ref, FETCHED, ...(upstream === null ? [] : [upstream.tracking])]);
  const committed = commitMemory(work, parcel);
  let pushed = false;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const tip = work.findTip();
    if (tip === null || upstream === null || isPushed(repo, tip, upstream)) {
      work.keepArrivals(parcel);
      const isNew = pushed || committed.changes.length > 0;
      return { ...committed, outcome: isNew ? 'published' : 'nothing new', commit: tip };
    }
    pushed = push(work, parcel, { tip, upstream }) || pushed;
  }
  throw raceError(target);
}

function raceError({ ref }: Target): HandoverError {
  return new HandoverError('HANDOVER_REMOTE_BUSY', `others keep moving ${ref}`, {
    hint: 'Nothing is lost: try again in a while.',
  });
}

/** Makes the branch hold what is in the parcel, however often others move it meanwhile. */
function commitMemory(work: GitPublication, parcel: ProjectFiles): Pick<Publication, 'changes' | 'notes'> {
  const { repo, target } = work;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = work.findTip();
    const { changes, tree: entries, blobs, notes } = work.compare(parcel, before);
    if (entries.length === 0) return { changes, notes };
    assertIdentity(repo);
    writeBlobs(repo, blobs);
    const tree = writeTree(repo, before, entries);
    const to = writeCommit(repo, { tree, parent: before, message: work.messageOf(parcel) });
    if (target.isCurrent) updateUserIndex(repo, entries);
    const from = findCommit(repo, target.ref) === null ? null : before;
    if (moveRef(repo, target.ref, { from, to })) return { changes, notes };
  }
  throw raceError(target);
}

function isPushed(repo: Repo, tip: string, { tracking }: Upstream): boolean {
  const known = findCommit(repo, tracking);
  return known !== null && isAncestor(repo, tip, known);
}

/** False when the remote had moved, and both were brought together to be pushed anew. */
function push(
  work: GitPublication,
  parcel: ProjectFiles,
  { tip, upstream }: { tip: string; upstream: Upstream },
): boolean {
  const { repo, target, settings, paths, nameBlob } = work;
  const own = work.listUnasked(tip, upstream);
  if (own.length > 0) {
    throw new HandoverError('HANDOVER_PUBLISH_UNASKED', describeUserCommits(own), {
      hint: 'Push them yourself (git push) and memory goes along; or give memory a branch of its own (ref), or set own_commits = "push", below [publish.git] in your config.toml.',
      data: { commits: own },
    });
  }
  if (pushCommit(repo, { commit: tip, upstream }, settings) === 'pushed') {
    recordPushed(repo, tip, upstream);
    return true;
  }
  const theirs = fetchCommit(repo, upstream, settings);
  if (theirs === null) return false;
  if (!isAncestor(repo, theirs, tip))
    reconcile(repo, { target, ours: tip, theirs, paths, message: work.messageOf(parcel) }, nameBlob);
  recordPushed(repo, theirs, upstream);
  return false;
}

/** Git does so by itself where the remote's settings map the branch; elsewhere every try would push again. */
function recordPushed(repo: Repo, commitThere: string, { tracking }: Upstream): void {
  const known = findCommit(repo, tracking);
  if (known === null || !isAncestor(repo, commitThere, known))
    moveRef(repo, tracking, { from: known, to: commitThere });
}

function describeUserCommits(commits: readonly string[]): string {
  const [first = ''] = commits;
  const count = commits.length < MAX_LISTED ? `${commits.length}` : `${MAX_LISTED} or more`;
  const what = commits.length === 1 ? 'a commit of yours is' : `${count} commits of yours are`;
  return `${what} not pushed yet and would go along: ${first}`;
}
