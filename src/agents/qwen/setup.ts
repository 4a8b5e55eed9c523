import { join, resolve } from 'node:path';
import type { Machine } from '../../platform/machine.ts';
import { DEFAULT_DIALECT, type HookDialect } from '../hook-input.ts';
import { describeEntries, type HookHost, makeHandlers, makeServerCommand, TIMEOUT_SECONDS } from '../hook-setup.ts';

/** Qwen Code's folder, or another that the user named in its place; null on a machine without a home. */
export function resolveFolder({ home, cwd }: Machine, named: string | undefined): string | null {
  if (named) return resolve(cwd, named.replace(/^~(?=$|[\\/])/, home ?? '~'));
  return home === undefined ? null : join(home, '.qwen');
}

export const qwenHook: HookDialect = { ...DEFAULT_DIALECT, keepsContext: false };

/** Timeouts are in milliseconds. */
export const qwenHookHost: HookHost = {
  agent: 'qwen',
  title: 'Qwen Code',
  program: 'qwen',
  findHome: (machine) => resolveFolder(machine, machine.env.QWEN_HOME),
  projectFolder: '.qwen',
  listFiles: ({ folder, launcher }) => [
    describeEntries('qwen', join(folder, 'settings.json'), {
      form: 'grouped',
      handlers: makeHandlers('qwen', launcher, ({ command }) => ({
        type: 'command',
        command,
        timeout: TIMEOUT_SECONDS * 1000,
      })),
      offSwitches: [{ path: ['disableAllHooks'], value: true }],
      server: { section: 'mcpServers', value: { ...makeServerCommand(launcher, 'qwen') } },
    }),
  ],
};
