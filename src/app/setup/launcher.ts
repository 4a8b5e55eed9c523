import { join } from 'node:path';
import type { HookLauncher } from '../../agents/hook-command.ts';
import { HandoverError } from '../../errors.ts';
import type { Machine } from '../../platform/machine.ts';
import { findNode, findPackageFolder } from '../../platform/processes.ts';

/** What hooks are to start: this Node, and the hook entry of this very package. */
export function findLauncher({ platform }: Machine): HookLauncher {
  const launcher = { node: findNode(), script: join(findPackageFolder(), 'bin', 'hook.cjs') };
  if (platform !== 'win32') return launcher;
  // Every shell of Windows takes forward slashes, and none takes them for escapes.
  return { node: launcher.node.replaceAll('\\', '/'), script: launcher.script.replaceAll('\\', '/') };
}

/** The same, where hooks can count on it to stay. */
export function requireLastingLauncher(machine: Machine): HookLauncher {
  const launcher = findLauncher(machine);
  if (!/[\\/]_npx[\\/]/.test(launcher.script)) return launcher;
  throw new HandoverError('HANDOVER_PATH_UNSAFE', `${launcher.script} is where npx may clear it away`, {
    hint: 'Install it to stay, then try again: npm install --global agent-handover',
  });
}
