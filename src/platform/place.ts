import { relative, resolve } from 'node:path';
import type { Project, Workspace } from '../model/workspace.ts';
import { requireFolder } from './folders.ts';
import { readGitFacts } from './git-facts.ts';
import type { Machine } from './machine.ts';
import { abbreviateHome, expandHome, toSlashes } from './paths.ts';
import { identifyProject } from './project.ts';

export { abbreviateHome, expandHome };

/** A folder seen as work: whose project it is, where in it, and what git says of it now. */
export interface Place {
  project: Project;
  workspace: Workspace;
  /** The worktree's root on this machine, as the file system knows it. */
  root: string;
}

export function describePlace(folder: string, machine: Machine): Place {
  const { id, name, remote, root, worktree, git } = identifyProject(folder, machine);
  return {
    project: { id, name, remote: remote === null ? null : abbreviateHome(remote, machine) },
    workspace: {
      root: abbreviateHome(root, machine),
      folder: toRelativePath(root, requireFolder(resolve(machine.cwd, folder))),
      worktree,
      git: git === 'present' ? readGitFacts(root, machine) : null,
    },
    root,
  };
}

/** From `root` to `path` with forward slashes; begins with `..` when it leads out. */
export function toRelativePath(root: string, path: string): string {
  return toSlashes(relative(root, path));
}
