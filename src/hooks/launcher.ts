import { join } from 'node:path';
import type { HookLauncher } from '../agents/hook-command.ts';
import { HandoverError } from '../errors.ts';
import type { Machine } from '../platform/machine.ts';
import { findNode, findPackageFolder } from '../platform/programs.ts';

/** What hooks are to start: this Node, and the hook entry of this very package. */
export function findLauncher({ platform }: Machine): HookLauncher {
  const folder = findPackageFolder();
  if (/[\\/]_npx[\\/]/.test(folder)) {
    throw new HandoverError(
      'HANDOVER_PATH_UNSAFE',
      `${folder} is a folder that npx clears away at any time`,
      {
        hint: 'Install it to stay, then try again: npm install --global agent-handover',
      },
    );
  }
  const launcher = { node: findNode(), script: join(folder, 'bin', 'hook.cjs') };
  // Every shell of Windows takes forward slashes, and none takes them for escapes.
  if (platform !== 'win32') return launcher;
  return { node: launcher.node.replaceAll('\\', '/'), script: launcher.script.replaceAll('\\', '/') };
}
