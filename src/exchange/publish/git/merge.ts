import { join } from 'node:path';
import { HandoverError } from '../../../errors.ts';
import { compareCodeUnits } from '../../../model/hash.ts';
import { removeFile, writeFileDurably } from '../../../platform/durable-file.ts';
import { ensureWorkFolder, git, gitFailed, type Repo } from './repository.ts';
import {
  type NameBlob,
  PLAIN_FILE,
  readBlob,
  readTree,
  type TreeChange,
  type TreeEntry,
  writeBlobs,
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
  if (conflicts.length > 0) throw refuseConflict(conflicts);
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
    throw gitFailed(repo, args, result);
  } finally {
    for (const file of files) removeFile(file);
  }
}

function refuseConflict(paths: readonly string[]): HandoverError {
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
