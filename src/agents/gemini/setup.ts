import { join, resolve } from 'node:path';
import type { Machine } from '../../platform/machine.ts';
import { DEFAULT_DIALECT, type HookDialect, readDefaultInput } from '../hook-input.ts';
import { describeEntries, type HookHost, makeHandlers, makeServerCommand, TIMEOUT_SECONDS } from '../hook-setup.ts';
import { getText } from '../shared/json.ts';

/** Gemini CLI's folder; `GEMINI_CLI_HOME` takes the place of the user's home. Null on a machine without one. */
export function findGeminiHome({ env, home, cwd }: Machine): string | null {
  if (env.GEMINI_CLI_HOME) return join(resolve(cwd, env.GEMINI_CLI_HOME), '.gemini');
  return home === undefined ? null : join(home, '.gemini');
}

export const geminiHook: HookDialect = {
  ...DEFAULT_DIALECT,
  read: (input) => readDefaultInput(input, { lastReply: getText(input, 'prompt_response') }),
  // After /clear the hook runs, but what it prints is lost.
  canDeliver: (moment, source) => moment === 'prompt' || (moment === 'start' && source !== 'clear'),
  announcesCompaction: false,
  startsAfterCompaction: false,
  keepsContext: false,
};

/** No matcher: Gemini CLI compares them literally, so none matches everything. Timeouts are in milliseconds. */
export const geminiHookHost: HookHost = {
  agent: 'gemini',
  title: 'Gemini CLI',
  program: 'gemini',
  findHome: findGeminiHome,
  projectFolder: '.gemini',
  listFiles: ({ folder, launcher }) => [
    describeEntries('gemini', join(folder, 'settings.json'), {
      form: 'grouped',
      handlers: makeHandlers('gemini', launcher, ({ command }) => ({
        name: 'agent-handover',
        type: 'command',
        command,
        timeout: TIMEOUT_SECONDS * 1000,
      })),
      offSwitches: [{ path: ['hooksConfig', 'enabled'], value: false }],
      server: { section: 'mcpServers', value: { ...makeServerCommand(launcher, 'gemini') } },
    }),
  ],
};
