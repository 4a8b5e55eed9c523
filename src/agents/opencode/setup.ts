import { join } from 'node:path';
import { HandoverError } from '../../errors.ts';
import { readHead } from '../../platform/external-file.ts';
import { pathExists } from '../../platform/folders.ts';
import { findPackageFolder } from '../../platform/processes.ts';
import { DEFAULT_DIALECT, type HookDialect, readDefaultInput } from '../hook-input.ts';
import { describeEntries, type HookHost, type HookLauncher, makeServerCommand } from '../hook-setup.ts';
import { findOpencodeHome } from '../shared/files.ts';
import { getText } from '../shared/json.ts';

/** What our plugin in OpenCode sends and accepts, see `docs/hooks.md`. It keeps the text itself, also through compactions. */
export const opencodeHook: HookDialect = {
  ...DEFAULT_DIALECT,
  read: (input, event) => {
    const isSubAgent = (getText(input, 'parent_id') ?? '') !== '';
    const compacted = event === 'session.compacted' ? { source: 'compaction' as const } : {};
    return readDefaultInput(input, { ...compacted, hasPrompt: true, isSubAgent });
  },
  write: (_, text) => JSON.stringify({ context: text }),
  keepsContext: false,
};

const MARK = '// Written by "handover hooks install", removed by "handover hooks uninstall".';
const MAX_BYTES = 64 * 1024;

/** The plugin that comes with this package, with the paths of what it starts. */
export function writePlugin({ node, script }: HookLauncher): string {
  const path = join(findPackageFolder(), 'plugins', 'opencode', 'agent-handover.js');
  const source = readHead(path, MAX_BYTES)?.bytes.toString('utf8');
  if (source === undefined) {
    const hint = 'This installation is incomplete. Install it again: npm install --global agent-handover';
    throw new HandoverError('HANDOVER_IO', `${path} is missing`, { hint });
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

/** OpenCode has no hook commands: a plugin of ours runs the same command. */
export const opencodeHookHost: HookHost = {
  agent: 'opencode',
  title: 'OpenCode',
  program: 'opencode',
  findHome: findOpencodeHome,
  projectFolder: '.opencode',
  listFiles: ({ folder, launcher }) => {
    const { command, args } = makeServerCommand(launcher, 'opencode');
    // OpenCode reads either name; the one that the user has is used.
    const commented = join(folder, 'opencode.jsonc');
    const config = pathExists(commented) ? commented : join(folder, 'opencode.json');
    const path = join(folder, 'plugin', 'agent-handover.js');
    return [
      { kind: 'whole', agent: 'opencode', path, content: writePlugin(launcher), mode: 0o600, parse: parsePlugin },
      describeEntries('opencode', config, {
        server: { section: 'mcp', value: { type: 'local', command: [command, ...args] } },
      }),
    ];
  },
};
