import { resolve } from 'node:path';
import type { Fact } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import { sha256Hex } from '../model/hash.ts';
import type { ChangesSince, Commit } from '../model/workspace.ts';
import { readHead } from '../platform/external-file.ts';
import { pathExists } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { expandHome } from '../platform/paths.ts';
import type { Place } from '../platform/project.ts';

const MAX_FILES_CHECKED = 300;

/** Compares the files and the git state of a handover with the worktree as it is now. */
export function findChanges(handover: Handover, place: Place, machine: Machine): ChangesSince {
  const since = Date.parse(handover.session.last_at ?? handover.created_at);
  return {
    ageMs: machine.clock.now() - since,
    ...compareGit(handover, place),
    files: handover.facts
      .filter((fact) => fact.kind === 'file' && fact.status !== 'deleted' && fact.status !== 'mentioned')
      .slice(0, MAX_FILES_CHECKED)
      .flatMap((fact) => {
        const change = compareFile(fact, locate(fact, handover, place, machine), since);
        return change === null ? [] : [{ path: fact.text, change }];
      }),
  };
}

function compareGit({ workspace }: Handover, place: Place): Pick<ChangesSince, 'branch' | 'head'> {
  const before = workspace.git;
  const after = place.workspace.git;
  if (before === null || after === null) return { branch: null, head: null };
  return {
    branch: before.branch === after.branch ? null : { before: before.branch, after: after.branch },
    head:
      before.head === after.head
        ? null
        : { before: before.head, after: after.head, commits: listNewer(after.commits, before.head) },
  };
}

/** Empty if the earlier commit is not among them: then it is unknown what came in between. */
function listNewer(commits: readonly Commit[], earlier: string | null): Commit[] {
  const at = commits.findIndex(({ hash }) => hash === earlier);
  return at === -1 ? [] : commits.slice(0, at);
}

/** Declared paths start from the root, captured ones from the folder that the agent worked in. */
function locate(fact: Fact, { workspace }: Handover, place: Place, machine: Machine): string {
  const from = fact.trust === 'declared' ? place.root : resolve(place.root, workspace.folder);
  return resolve(from, expandHome(fact.text, machine));
}

const MAX_COMPARED_BYTES = 32 * 1024 * 1024;

/** By content where its digest is known, else by the time of its last change. */
function compareFile({ probe }: Fact, path: string, since: number): 'changed' | 'gone' | null {
  const digest = probe?.sha256 ?? null;
  const head = readHead(path, digest === null ? 0 : MAX_COMPARED_BYTES);
  if (head === null) return pathExists(path) ? null : 'gone';
  const isOther = digest === null ? head.changedMs > since : sha256Hex(head.bytes) !== digest;
  return isOther ? 'changed' : null;
}
