import { join } from 'node:path';
import { type HookHost, makeHandlers, TIMEOUT_SECONDS } from '../hook-host.ts';
import { makeServerCommand } from '../server-command.ts';
import { findQwenHome } from './places.ts';

/** Timeouts are in milliseconds. */
export const qwenHookHost: HookHost = {
  agent: 'qwen',
  title: 'Qwen Code',
  program: 'qwen',
  findHome: findQwenHome,
  projectFolder: '.qwen',
  listFiles: ({ folder, launcher }) => [
    {
      kind: 'entries',
      agent: 'qwen',
      path: join(folder, 'settings.json'),
      form: 'grouped',
      handlers: makeHandlers('qwen', launcher, ({ command }) => ({
        type: 'command',
        command,
        timeout: TIMEOUT_SECONDS * 1000,
      })),
      skeleton: {},
      offSwitches: [{ path: ['disableAllHooks'], value: true }],
      server: { section: 'mcpServers', value: { ...makeServerCommand(launcher, 'qwen') } },
    },
  ],
};
