import { join } from 'node:path';
import { HandoverError } from '../../errors.ts';
import { readHead } from '../../platform/external-file.ts';
import { findPackageFolder } from '../../platform/processes.ts';
import type { HookLauncher } from '../hook-command.ts';

const MARK = '// Written by "handover hooks install", removed by "handover hooks uninstall".';
const MAX_BYTES = 64 * 1024;

/** The plugin that comes with this package, with what it is to start. */
export function writePlugin({ node, script }: HookLauncher): string {
  const path = join(findPackageFolder(), 'plugins', 'opencode', 'agent-handover.js');
  const source = readHead(path, MAX_BYTES)?.bytes.toString('utf8');
  if (source === undefined) {
    throw new HandoverError('HANDOVER_IO', `${path} is missing`, {
      hint: 'This installation is not whole. Install agent-handover again.',
    });
  }
  return source
    .replace(/^const NODE = .*$/m, () => `const NODE = ${JSON.stringify(node)};`)
    .replace(/^const HOOK = .*$/m, () => `const HOOK = ${JSON.stringify(script)};`);
}

/** The launcher of a plugin that we wrote; null for any other file. */
export function parsePlugin(content: string): HookLauncher | null {
  if (!content.startsWith(MARK)) return null;
  return { node: readConstant(content, 'NODE'), script: readConstant(content, 'HOOK') };
}

function readConstant(content: string, name: string): string {
  const literal = new RegExp(`^const ${name} = ("(?:[^"\\\\\\n]|\\\\.)*");$`, 'm').exec(content)?.[1];
  return literal === undefined ? '' : String(JSON.parse(literal));
}
