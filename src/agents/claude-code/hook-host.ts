import { dirname, join } from 'node:path';
import {
  describeServerFile,
  type HookHost,
  type HookPlace,
  makeHandlers,
  makeServerCommand,
  TIMEOUT_SECONDS,
} from '../hook-setup.ts';
import { findClaudeHome } from './paths.ts';

/** In a project the local settings are taken, which are not meant to be committed: the paths are of one machine. */
export const claudeCodeHookHost: HookHost = {
  agent: 'claude-code',
  title: 'Claude Code',
  program: 'claude',
  findHome: findClaudeHome,
  projectFolder: '.claude',
  listFiles: ({ scope, folder, launcher, env }) => [
    {
      kind: 'entries',
      agent: 'claude-code',
      path: join(folder, scope === 'user' ? 'settings.json' : 'settings.local.json'),
      form: 'grouped',
      handlers: makeHandlers('claude-code', launcher, ({ command }) => ({
        type: 'command',
        command,
        timeout: TIMEOUT_SECONDS,
      })),
      skeleton: {},
      offSwitches: [{ path: ['disableAllHooks'], value: true }],
      server: null,
    },
    describeServerFile('claude-code', findServerFile({ scope, folder, env }), {
      section: 'mcpServers',
      value: { type: 'stdio', ...makeServerCommand(launcher, 'claude-code') },
    }),
  ],
};

/** Beside the folder with the settings, unless the user has put that elsewhere. */
function findServerFile({ scope, folder, env }: Pick<HookPlace, 'scope' | 'folder' | 'env'>): string {
  if (scope === 'project') return join(dirname(folder), '.mcp.json');
  return join(env.CLAUDE_CONFIG_DIR ? folder : dirname(folder), '.claude.json');
}
