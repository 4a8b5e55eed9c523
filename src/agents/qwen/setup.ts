import { join } from 'node:path';
import type { Launch } from '../agent.ts';
import { type HookDialect, USUAL_DIALECT } from '../hook-input.ts';
import { type HookHost, makeHandlers, makeServerCommand, TIMEOUT_SECONDS } from '../hook-setup.ts';
import { findQwenHome } from './sessions.ts';

export const qwenHook: HookDialect = { ...USUAL_DIALECT, keepsContext: false };

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

export const qwenLaunch: Launch = {
  program: 'qwen',
  install: 'npm install -g @qwen-code/qwen-code',
  takes: 'prompt',
  attachesFiles: true,
  writeArgs: (prompt) => ['--prompt-interactive', prompt],
};
