import type { Project } from '../../model/workspace.ts';
import { isFolder } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { abbreviateHome } from '../../platform/paths.ts';
import { identifyProject } from '../../platform/project.ts';
import { describeLostProject } from './session-handoff-view.ts';

/** The project that a record names by the path it had. */
export interface LocatedProject {
  project: Project;
  /** The real path of its folder; null when it is not on this machine. */
  root: string | null;
  /** The same as it is kept. */
  shownRoot: string;
}

/** Locates projects, each path only once: many records share a few. */
export function rememberProjects(machine: Machine): (path: string) => LocatedProject {
  const known = new Map<string, LocatedProject>();
  return (path) => {
    const located = known.get(path) ?? locateProject(path, machine);
    known.set(path, located);
    return located;
  };
}

function locateProject(path: string, machine: Machine): LocatedProject {
  if (!isFolder(path)) {
    const shownRoot = abbreviateHome(path.toWellFormed(), machine);
    return { project: describeLostProject(path), root: null, shownRoot };
  }
  const { id, name, remote, root } = identifyProject(path, machine);
  const shownRemote = remote === null ? null : abbreviateHome(remote, machine);
  return { project: { id, name, remote: shownRemote }, root, shownRoot: abbreviateHome(root, machine) };
}
