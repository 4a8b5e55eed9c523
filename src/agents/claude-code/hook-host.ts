import { join } from 'node:path';
import { type HookHost, makeHandlers, TIMEOUT_SECONDS } from '../hook-host.ts';
import { findClaudeHome } from './paths.ts';

/** In a project the local settings are taken, which are not meant to be committed: the paths are of one machine. */
export const claudeCodeHookHost: HookHost = {
  agent: 'claude-code',
  title: 'Claude Code',
  program: 'claude',
  findHome: findClaudeHome,
  projectFolder: '.claude',
  listFiles: ({ scope, folder, launcher }) => [
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
    },
  ],
};
