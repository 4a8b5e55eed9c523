import { findChanges } from '../../handover/changes-since.ts';
import type { Handover } from '../../model/handover.ts';
import type { ChangesSince, GitFacts } from '../../model/workspace.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Place } from '../../platform/project.ts';
import { openRedactor } from '../../redact/open-redactor.ts';

/** What changed since a handover. What git says now is compared and told as what it said then: without secrets. */
export function findChangesHere(handover: Handover, place: Place, machine: Machine): ChangesSince {
  const { git } = place.workspace;
  if (git === null) return findChanges(handover, place, machine);
  const workspace = { ...place.workspace, git: redactGit(git, place, machine) };
  return findChanges(handover, { ...place, workspace }, machine);
}

function redactGit(git: GitFacts, { root }: Place, machine: Machine): GitFacts {
  const redactor = openRedactor(machine, { folder: root, makesKey: false });
  return {
    ...git,
    branch: git.branch === null ? null : redactor.redactText(git.branch),
    commits: git.commits.map((commit) => ({ ...commit, subject: redactor.redactText(commit.subject) })),
  };
}
