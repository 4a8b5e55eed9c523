import { join } from 'node:path';
import { HandoverError } from '../../../errors.ts';
import { sha256Hex } from '../../../model/hash.ts';
import { isAbandonedTemp, isTempName, removeFile } from '../../../platform/durable-file.ts';
import { listNames } from '../../../platform/external-file.ts';
import { surveyFolder } from '../../../platform/folders.ts';
import type { Machine } from '../../../platform/machine.ts';
import type { GitSettings } from '../../../platform/publish-settings.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import type { Plan, ProjectFiles, Publication, Publisher } from '../publisher.ts';
import { readSyncState, type SyncRoute, withPublishLock, writeSyncState } from '../sync-state.ts';
import { assertIdentity, listCommits, listUserCommits, MAX_LISTED, writeCommit } from './commits.ts';
import { compareWithCurrent, compareWithDedicated, type Difference } from './compare.ts';
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

export interface GitProject {
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
export function openGitPublisher(project: GitProject): Publisher {
  const { root, machine, settings } = project;
  const repo = openRepo(root, machine);
  const target = findTarget(repo, settings);
  return {
    backend: 'git',
    destination: target.upstream === null ? target.ref : describeUpstream(repo, target.upstream),
    plan: async (content) => new GitPublication(repo, target, { ...project, content }).plan(),
    publish: async (content) => {
      const lock = { folder: join(ensureWorkFolder(repo), LOCKS), name: 'publish', clock: machine.clock };
      return await withPublishLock(lock, async () => {
        removeStaleFiles(repo, content.roots);
        try {
          return new GitPublication(repo, findTarget(repo, settings), { ...project, content }).publish();
        } finally {
          releaseRefs(repo);
        }
      });
    },
  };
}

/** Removes what a killed publication left: git's locks, drafts, temporary files. The caller holds the publication lock. */
function removeStaleFiles(repo: Repo, roots: readonly string[]): void {
  releaseUserIndex(repo);
  releaseRefs(repo);
  for (const name of listNames(repo.workFolder)) if (name !== LOCKS) removeFile(join(repo.workFolder, name));
  for (const root of roots) {
    for (const { path, name, kind } of surveyFolder(join(repo.top, repo.prefix, root)))
      if (kind === 'file' && isTempName(name) && isAbandonedTemp(path)) removeFile(path);
  }
}

class GitPublication {
  readonly #repo: Repo;
  readonly #target: Target;
  readonly #settings: GitSettings;
  readonly #content: ProjectFiles;
  /** Relative to the repository. */
  readonly #paths: readonly string[];
  readonly #nameBlob: NameBlob;
  readonly #route: SyncRoute;
  readonly #message: string;

  constructor(repo: Repo, target: Target, project: GitProject & { content: ProjectFiles }) {
    const { machine, root, paths, settings, content } = project;
    this.#repo = repo;
    this.#target = target;
    this.#settings = settings;
    this.#content = content;
    this.#paths = paths.map((path) => repo.prefix + path);
    this.#nameBlob = makeBlobNamer(repo);
    this.#route = { machine, root, destination: `git ${repo.commonDir} ${target.ref}` };
    this.#message = settings.message ?? `handover: memory of ${content.name}`;
  }

  plan(): Plan {
    const { upstream } = this.#target;
    const tip = this.#findTip();
    const { changes, notes } = this.#compare(tip);
    if (tip === null || upstream === null) return { changes, waiting: [], notes };
    const own = this.#listUserCommits(tip, upstream);
    const warning = own.length === 0 ? [] : [`it will be refused: ${describeUserCommits(own)}`];
    const waiting = this.#redact(listCommits(this.#repo, this.#limitToUnpushed(tip, upstream)));
    return { changes, waiting, notes: [...notes, ...warning] };
  }

  publish(): Publication {
    const { ref, upstream } = this.#target;
    recordMovingRefs(this.#repo, [ref, FETCHED, ...(upstream === null ? [] : [upstream.tracking])]);
    const committed = this.#commit();
    let pushed = false;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const tip = this.#findTip();
      if (tip === null || upstream === null || this.#isPushed(tip, upstream)) {
        this.#saveSyncState();
        const isNew = pushed || committed.changes.length > 0;
        return { ...committed, outcome: isNew ? 'published' : 'nothing new', commit: tip };
      }
      pushed = this.#push(tip, upstream) || pushed;
    }
    throw this.#raceError();
  }

  /** A dedicated branch that is not here yet continues from the remote-tracking ref. */
  #findTip(): string | null {
    const { ref, isCurrent, upstream } = this.#target;
    const tip = findCommit(this.#repo, ref);
    if (tip !== null || isCurrent || upstream === null) return tip;
    return findCommit(this.#repo, upstream.tracking);
  }

  #compare(tip: string | null): Difference {
    const options = { tip, nameBlob: this.#nameBlob };
    if (this.#target.isCurrent) return compareWithCurrent(this.#repo, this.#content, options);
    const state = readSyncState(this.#route);
    return compareWithDedicated(this.#repo, this.#content, { ...options, state });
  }

  /** Unpushed commits of the user that would be pushed along without being asked for. */
  #listUserCommits(tip: string, upstream: Upstream): string[] {
    if (!this.#target.isCurrent || this.#settings.own_commits === 'push') return [];
    return this.#redact(listUserCommits(this.#repo, this.#limitToUnpushed(tip, upstream), this.#paths));
  }

  #limitToUnpushed(tip: string, { tracking, remote }: Upstream): string[] {
    return [tip, '--not', findCommit(this.#repo, tracking) ?? `--remotes=${remote}`];
  }

  #redact(commits: readonly string[]): string[] {
    if (commits.length === 0) return [];
    const { machine, root } = this.#route;
    const redactor = openRedactor(machine, { folder: root, makesKey: false });
    return commits.map((commit) => redactor.redactText(commit));
  }

  #saveSyncState(): void {
    if (this.#target.isCurrent) return;
    const entries = this.#content.files.map(
      ({ path, bytes }) => [path, { sha256: sha256Hex(bytes), version: '' }] as const,
    );
    writeSyncState(this.#route, new Map(entries));
  }

  /** Commits the files on the branch, again whenever others moved it meanwhile. */
  #commit(): Pick<Publication, 'changes' | 'notes'> {
    const [repo, { ref, isCurrent }] = [this.#repo, this.#target];
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const before = this.#findTip();
      const { changes, tree: entries, blobs, notes } = this.#compare(before);
      if (entries.length === 0) return { changes, notes };
      assertIdentity(repo);
      writeBlobs(repo, blobs);
      const tree = writeTree(repo, before, entries);
      const to = writeCommit(repo, { tree, parent: before, message: this.#message });
      if (isCurrent) updateUserIndex(repo, entries);
      const from = findCommit(repo, ref) === null ? null : before;
      if (moveRef(repo, ref, { from, to })) return { changes, notes };
    }
    throw this.#raceError();
  }

  #raceError(): HandoverError {
    return new HandoverError('HANDOVER_REMOTE_BUSY', `others keep moving ${this.#target.ref}`, {
      hint: 'Nothing is lost: try again in a while.',
    });
  }

  #isPushed(tip: string, { tracking }: Upstream): boolean {
    const known = findCommit(this.#repo, tracking);
    return known !== null && isAncestor(this.#repo, tip, known);
  }

  /** False when the remote had moved; the branch is reconciled with it then, and must be pushed again. */
  #push(tip: string, upstream: Upstream): boolean {
    const [repo, settings, nameBlob] = [this.#repo, this.#settings, this.#nameBlob];
    const own = this.#listUserCommits(tip, upstream);
    if (own.length > 0) {
      throw new HandoverError('HANDOVER_PUBLISH_UNASKED', describeUserCommits(own), {
        hint: 'Push them yourself (git push) and memory goes along; or give memory a dedicated branch (ref), or set own_commits = "push", below [publish.git] in your config.toml.',
        data: { commits: own },
      });
    }
    if (pushCommit(repo, { commit: tip, upstream }, settings) === 'pushed') {
      this.#recordPushed(tip, upstream);
      return true;
    }
    const theirs = fetchCommit(repo, upstream, settings);
    if (theirs === null) return false;
    if (!isAncestor(repo, theirs, tip)) {
      const [target, paths, message] = [this.#target, this.#paths, this.#message];
      reconcile(repo, { target, ours: tip, theirs, paths, message }, nameBlob);
    }
    this.#recordPushed(theirs, upstream);
    return false;
  }

  /** Git does this by itself only where the remote's refspec covers the branch. */
  #recordPushed(commit: string, { tracking }: Upstream): void {
    const known = findCommit(this.#repo, tracking);
    if (known === null || !isAncestor(this.#repo, commit, known))
      moveRef(this.#repo, tracking, { from: known, to: commit });
  }
}

function describeUserCommits(commits: readonly string[]): string {
  const [first = ''] = commits;
  const count = commits.length < MAX_LISTED ? `${commits.length}` : `${MAX_LISTED} or more`;
  const what = commits.length === 1 ? 'a commit of yours is' : `${count} commits of yours are`;
  return `${what} not pushed yet and would go along: ${first}`;
}
