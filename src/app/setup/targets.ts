import { dirname, join } from 'node:path';
import { HOOK_HOSTS } from '../../agents/hook-hosts.ts';
import type { HookedAgent } from '../../agents/hook-input.ts';
import * as setup from '../../agents/hook-setup.ts';
import { HandoverError } from '../../errors.ts';
import { isLexicallyInside, resolveRealPath } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { findNode, findPackageFolder } from '../../platform/processes.ts';

/** What hooks start: this Node, and the hook script of this package. */
export function findLauncher({ platform }: Machine): setup.HookLauncher {
  const launcher = { node: findNode(), script: join(findPackageFolder(), 'bin', 'hook.cjs') };
  if (platform !== 'win32') return launcher;
  // Every shell of Windows accepts forward slashes, and none treats them as escapes.
  return { node: launcher.node.replaceAll('\\', '/'), script: launcher.script.replaceAll('\\', '/') };
}

/** The same, unless it is in a place that npx may delete. */
export function requireLastingLauncher(machine: Machine): setup.HookLauncher {
  const launcher = findLauncher(machine);
  if (!/[\\/]_npx[\\/]/.test(launcher.script)) return launcher;
  const hint = 'Install it permanently, then try again: npm install --global agent-handover';
  throw new HandoverError('HANDOVER_PATH_UNSAFE', `${launcher.script} is in a cache that npx may delete`, { hint });
}

/** Where hooks go, and what they start. */
export interface HookSite {
  scope: setup.HookScope;
  /** The root of the project, for the scope of that name. */
  project: string;
  launcher: setup.HookLauncher;
  withServer: boolean;
}

/** All agents that hooks can be put into, or those that were named. */
export function listHosts(agents: readonly HookedAgent[]): setup.HookHost[] {
  return HOOK_HOSTS.filter(({ agent }) => agents.length === 0 || agents.includes(agent));
}

export function listHookFiles(host: setup.HookHost, machine: Machine, site: HookSite): setup.HookFile[] {
  const { scope, project, launcher, withServer } = site;
  const folder = scope === 'user' ? host.findHome(machine) : join(project, host.projectFolder);
  if (folder === null) return [];
  const all = host.listFiles({ scope, folder, launcher, platform: machine.platform, env: machine.env });
  const dropServer = (file: setup.HookFile) => (file.kind === 'entries' ? { ...file, server: null } : file);
  const files = withServer ? all : all.filter(setup.holdsHooks).map(dropServer);
  if (scope === 'project') for (const { path } of files) assertInside(project, path);
  return files;
}

/** The author of a repository chose the links in it, and must not choose which of the user's files are written. */
function assertInside(project: string, path: string): void {
  const root = resolveRealPath(project) ?? project;
  let place: string | null = null;
  for (let at = path; place === null && at !== dirname(at); at = dirname(at)) place = resolveRealPath(at);
  if (isLexicallyInside(place ?? root, root)) return;
  const hint = 'Links in a project are followed only within it. Put the hooks into your own settings: --scope user';
  throw new HandoverError('HANDOVER_PATH_UNSAFE', `${path} leads outside the project, to ${place}`, { hint });
}
