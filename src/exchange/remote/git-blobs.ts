import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HandoverError, hasCode, rescue } from '../../errors.ts';
import { compareCodeUnits } from '../../model/hash.ts';
import { ensurePrivateFolder, pathExists } from '../../platform/folders.ts';
import { runGit } from '../../platform/git.ts';
import type { Machine } from '../../platform/machine.ts';
import { findDataFolder } from '../../platform/paths.ts';
import { parseGitSettings } from '../../platform/publish-settings.ts';
import { hideCredentials } from '../../platform/remote-address.ts';
import { REMOTES } from '../../store/store.ts';
import { fetchCommit, pushCommit } from '../publish/git/remote.ts';
import { git, gitError, listGit, type Repo, requireGit } from '../publish/git/repository.ts';
import type { Blob, BlobStore } from './blobs.ts';
import { checkWrites, tooManyError } from './folder-blobs.ts';

const DEFAULT_BRANCH = 'handover';
const MAX_TRIES = 30;
const TIMEOUT_S = 120;

interface Tree {
  /** Null where the branch is not there yet. */
  commit: string | null;
  files: Map<string, { oid: string; size: number }>;
}

/**
 * Files on a branch of a git repository, by a bare copy in the store. Each change is a commit that is pushed without force; if
 * somebody else pushed first, it is made again on top of theirs. What is removed stays in the history.
 */
export function openGitBlobs({ name, url }: { name: string; url: string }, machine: Machine): BlobStore {
  const parsed = new URL(url.replace(/^git\+/i, ''));
  const branch = parsed.searchParams.get('branch') ?? DEFAULT_BRANCH;
  parsed.search = '';
  const address = parsed.href;
  const ref = `refs/heads/${branch}`;
  const upstream = { remote: 'origin', ref, tracking: `refs/remotes/origin/${branch}` };
  const settings = parseGitSettings({ ref, hooks: false, timeout: TIMEOUT_S });
  let opened: Repo | null = null;
  let tree: Tree | null = null;

  const open = (): Repo => {
    opened ??= openCache(`${name}.git`, address, machine);
    return opened;
  };
  const refresh = (): Tree => {
    const repo = open();
    tree = readTree(
      repo,
      explain(() => fetchCommit(repo, upstream, settings)),
    );
    return tree;
  };
  /** `plan` decides by what is there now. False when it finds nothing to do. */
  const change = async (plan: (now: Tree) => Change | null): Promise<boolean> => {
    for (let tries = 1; ; tries++) {
      const now = tree ?? refresh();
      const wanted = plan(now);
      if (wanted === null) return false;
      const repo = open();
      const commit = writeChange(repo, now.commit, wanted);
      if (explain(() => pushCommit(repo, { commit, upstream }, settings)) === 'pushed') {
        tree = readTree(repo, commit);
        return true;
      }
      tree = null;
      if (tries === MAX_TRIES) throw busyError(address);
      const [share = 0] = machine.random.bytes(1);
      await delay((share / 255) * 100 * Math.min(tries, 10));
    }
  };
  const createAll = async (blobs: readonly Blob[]): Promise<boolean> =>
    await change(({ files }) => {
      const added = blobs.filter(({ path }) => !files.has(path));
      return added.length === 0 ? null : { added, removed: [] };
    });
  const create: BlobStore['create'] = async (path, bytes) => await createAll([{ path, bytes }]);
  const remove: BlobStore['remove'] = async (paths) =>
    void (await change(({ files }) => {
      const removed = paths.filter((path) => files.has(path));
      return removed.length === 0 ? null : { added: [], removed };
    }));
  return {
    address: hideCredentials(address),
    create,
    createAll: async (blobs) => void (await createAll(blobs)),
    read: async (path, maxBytes) => {
      const file = (tree ?? refresh()).files.get(path);
      if (file === undefined) return null;
      if (file.size > maxBytes) throw tooManyError(path, maxBytes);
      const args = ['cat-file', 'blob', file.oid];
      const result = git(open(), args);
      if (result.status !== 0 || result.truncated) throw gitError(open(), args, result);
      return result.stdout;
    },
    list: async (folder, most = Number.POSITIVE_INFINITY) => {
      const paths = [...refresh().files.keys()].filter((path) => path.startsWith(folder));
      if (paths.length > most) throw tooManyError(folder, most);
      return paths.sort(compareCodeUnits);
    },
    remove,
    check: async () => await checkWrites({ create, remove }, machine),
    close: async () => undefined,
  };
}

/** Syncing goes on by itself; what publishing says of commits does not hold here. */
function explain<T>(work: () => T): T {
  const refuse = ({ code, message, data = {}, cause }: HandoverError): never => {
    const isAway = code === 'HANDOVER_REMOTE_UNREACHABLE';
    const hint = isAway
      ? 'Check the address and the network. Nothing is lost: the next sync goes on.'
      : 'Try by hand with git: it must not need to ask (a key in the ssh agent, or a credential helper). Nothing is lost.';
    throw new HandoverError(code, message, { hint, data, cause });
  };
  const isOfRemote = (error: unknown): error is HandoverError =>
    hasCode(error, 'HANDOVER_REMOTE_UNREACHABLE') || hasCode(error, 'HANDOVER_REMOTE_REFUSED');
  return rescue(isOfRemote, refuse, work);
}

function openCache(name: string, address: string, machine: Machine): Repo {
  const parent = ensurePrivateFolder(findDataFolder(machine), REMOTES);
  const top = join(parent, name);
  const repo: Repo = { machine, top, gitDir: top, commonDir: top, prefix: '', workFolder: join(top, 'agent-handover') };
  // HEAD is written last: without it, a killed `git init` is done again.
  if (!pathExists(join(top, 'HEAD')) || git(repo, ['rev-parse', '--git-dir']).status !== 0) {
    const args = ['init', '--quiet', '--bare', '--shared=0600', '--template=', top];
    const result = runGit(args, { cwd: parent, env: machine.env });
    if (result.status !== 0) throw gitError({ ...repo, top: parent }, args, result);
  }
  requireGit(repo, ['config', 'remote.origin.url', address]);
  return repo;
}

function readTree(repo: Repo, commit: string | null): Tree {
  const files: Tree['files'] = new Map();
  const records = commit === null ? [] : listGit(repo, ['ls-tree', '-r', '-z', '--long', '--full-tree', commit]);
  for (const record of records) {
    const [, oid, size, path] = /^100644 blob ([0-9a-f]+) +(\d+)\t(.+)$/s.exec(record) ?? [];
    if (oid !== undefined && path !== undefined) files.set(path, { oid, size: Number(size) });
  }
  return { commit, files };
}

interface Change {
  added: readonly Blob[];
  removed: readonly string[];
}

/** Writes blobs, tree and commit with one process, under a unique ref that is removed at once. */
function writeChange(repo: Repo, parent: string | null, { added, removed }: Change): string {
  const { clock, random } = repo.machine;
  const draft = `refs/agent-handover/draft-${Buffer.from(random.bytes(12)).toString('hex')}`;
  const seconds = Math.floor(clock.now() / 1000);
  const head = [
    `commit ${draft}`,
    `committer agent-handover <agent-handover@localhost> ${seconds} +0000`,
    'data 13\nhandover sync',
    ...(parent === null ? [] : [`from ${parent}`]),
    ...removed.map((path) => `D ${path}`),
  ];
  const files = added.flatMap(({ path, bytes }) => [
    Buffer.from(`M 100644 inline ${path}\ndata ${bytes.length}\n`),
    bytes,
    Buffer.from('\n'),
  ]);
  const input = Buffer.concat([Buffer.from(`${head.join('\n')}\n`), ...files, Buffer.from('done\n')]);
  requireGit(repo, ['fast-import', '--quiet', '--done'], { input });
  const commit = requireGit(repo, ['rev-parse', '--verify', draft]);
  requireGit(repo, ['update-ref', '-d', draft]);
  return commit;
}

function busyError(address: string): HandoverError {
  return new HandoverError('HANDOVER_REMOTE_BUSY', `${address} is being changed by many at once`, {
    hint: 'Try again: handover sync. Nothing is lost.',
  });
}
