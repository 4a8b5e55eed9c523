import { join } from 'node:path';
import type { Project, Workspace } from '../model/workspace.ts';
import { isFolder } from './folders.ts';
import type { Machine } from './machine.ts';
import { expandHome } from './place.ts';
import { identifyProject } from './project.ts';

/**
 * The folder that was worked in, or else the root of its worktree, as it is on this machine. Null when there is none, or
 * when what has that path is another project: a handover may come from another machine.
 */
export function findWorkFolder(
  { root, folder }: Workspace,
  project: Project,
  machine: Machine,
): string | null {
  const top = expandHome(root, machine);
  return (
    [join(top, folder), top].find(
      (path) => isFolder(path) && identifyProject(path, machine).id === project.id,
    ) ?? null
  );
}
