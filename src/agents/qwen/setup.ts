import { join, resolve } from 'node:path';
import type { Machine } from '../../platform/machine.ts';
import type { Launch } from '../agent.ts';
import { type HookDialect, USUAL_DIALECT } from '../hook-input.ts';
import { type HookHost, makeHandlers, makeServerCommand, TIMEOUT_SECONDS } from '../hook-setup.ts';

/** Qwen Code's folder; null on a machine without a home. */
export function findQwenHome(machine: Machine): string | null {
  return resolveFolder(machine, machine.env.QWEN_HOME);
}

export function resolveFolder({ home, cwd }: Machine, named: string | undefined): string | null {
  if (named) return resolve(cwd, named.replace(/^~(?=$|[\\/])/, home ?? '~'));
  return home === undefined ? null : join(home, '.qwen');
}

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
