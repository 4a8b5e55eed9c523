import { join, relative, resolve, sep } from 'node:path';
import type { Project, Workspace } from '../model/workspace.ts';
import { requireFolder, resolveRealPath } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { readGitFacts } from './git-facts.ts';
import { identifyProject } from './project.ts';

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

/** With `~` for the home folder, so that what is kept does not tell who the user is. */
export function abbreviateHome(path: string, machine: Machine): string {
  if (machine.home === undefined) return path;
  for (const home of [machine.home, resolveRealPath(machine.home)]) {
    if (path === home) return '~';
    if (home !== null && path.startsWith(`${home}${sep}`))
      return `~/${toSlashes(path.slice(home.length + 1))}`;
  }
  return path;
}

/** Undoes `abbreviateHome` on the machine where it is asked. */
export function expandHome(path: string, machine: Machine): string {
  if (machine.home === undefined || !/^~(?:\/|$)/.test(path)) return path;
  return join(machine.home, path.slice(1));
}

/** From `root` to `path` with forward slashes; begins with `..` when it leads out. */
export function toRelativePath(root: string, path: string): string {
  return toSlashes(relative(root, path));
}

function toSlashes(path: string): string {
  return sep === '/' ? path : path.split(sep).join('/');
}
