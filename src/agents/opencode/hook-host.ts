import { join } from 'node:path';
import type { HookHost } from '../hook-host.ts';
import { findConfigFolder } from './places.ts';
import { parsePlugin, writePlugin } from './plugin.ts';

/** OpenCode has no hook commands: a plugin of ours runs the same command. */
export const opencodeHookHost: HookHost = {
  agent: 'opencode',
  title: 'OpenCode',
  program: 'opencode',
  findHome: findConfigFolder,
  projectFolder: '.opencode',
  listFiles: ({ folder, launcher }) => [
    {
      kind: 'whole',
      agent: 'opencode',
      path: join(folder, 'plugin', 'agent-handover.js'),
      content: writePlugin(launcher),
      mode: 0o600,
      parse: parsePlugin,
    },
  ],
};
