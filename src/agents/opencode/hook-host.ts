import { join } from 'node:path';
import { pathExists } from '../../platform/folders.ts';
import { describeServerFile, type HookHost } from '../hook-host.ts';
import { makeServerCommand } from '../server-command.ts';
import { findConfigFolder } from './places.ts';
import { parsePlugin, writePlugin } from './plugin.ts';

/** OpenCode has no hook commands: a plugin of ours runs the same command. */
export const opencodeHookHost: HookHost = {
  agent: 'opencode',
  title: 'OpenCode',
  program: 'opencode',
  findHome: findConfigFolder,
  projectFolder: '.opencode',
  listFiles: ({ folder, launcher }) => {
    const { command, args } = makeServerCommand(launcher, 'opencode');
    return [
      {
        kind: 'whole',
        agent: 'opencode',
        path: join(folder, 'plugin', 'agent-handover.js'),
        content: writePlugin(launcher),
        mode: 0o600,
        parse: parsePlugin,
      },
      describeServerFile('opencode', findConfigFile(folder), {
        section: 'mcp',
        value: { type: 'local', command: [command, ...args] },
      }),
    ];
  },
};

/** Either name is read; the one that the user has is taken. */
function findConfigFile(folder: string): string {
  const commented = join(folder, 'opencode.jsonc');
  return pathExists(commented) ? commented : join(folder, 'opencode.json');
}
