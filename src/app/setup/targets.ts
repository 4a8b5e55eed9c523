import { dirname, join, relative, sep } from 'node:path';
import { HOOK_HOSTS } from '../../agents/hook-hosts.ts';
import type { HookedAgent } from '../../agents/hook-input.ts';
import {
  type HookFile,
  type HookHost,
  type HookLauncher,
  type HookScope,
  holdsHooks,
} from '../../agents/hook-setup.ts';
import { HandoverError } from '../../errors.ts';
import { resolveRealPath } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';

/** Where hooks are to be, and what they are to start. */
export interface HookSite {
  scope: HookScope;
  /** The root of the project; what a project's scope means. */
  project: string;
  launcher: HookLauncher;
  /** Whether our MCP server is meant too, besides the hooks. */
  withServer: boolean;
}

/** All agents that hooks can be put into, or those that were named. */
export function listHosts(agents: readonly HookedAgent[]): HookHost[] {
  return HOOK_HOSTS.filter(({ agent }) => agents.length === 0 || agents.includes(agent));
}

export function listHookFiles(host: HookHost, machine: Machine, site: HookSite): HookFile[] {
  const { scope, project, launcher, withServer } = site;
  const folder = scope === 'user' ? host.findHome(machine) : join(project, host.projectFolder);
  if (folder === null) return [];
  const { platform, env } = machine;
  const all = host.listFiles({ scope, folder, launcher, platform, env });
  const files = withServer ? all : all.filter(holdsHooks).map(leaveServerOut);
  if (scope === 'project') for (const { path } of files) assertInside(project, path);
  return files;
}

function leaveServerOut(file: HookFile): HookFile {
  return file.kind === 'entries' ? { ...file, server: null } : file;
}

/** Whoever wrote a repository chose the links in it. They must not choose which files of the user are written. */
function assertInside(project: string, path: string): void {
  const root = resolveRealPath(project) ?? project;
  let place: string | null = null;
  for (let at = path; place === null && at !== dirname(at); at = dirname(at)) place = resolveRealPath(at);
  const way = relative(root, place ?? root);
  if (way !== '..' && !way.startsWith(`..${sep}`)) return;
  throw new HandoverError('HANDOVER_PATH_UNSAFE', `${path} leads out of the project, to ${place}`, {
    hint: 'Links in a project are followed only within it. Put the hooks into your own settings: --scope user',
  });
}
