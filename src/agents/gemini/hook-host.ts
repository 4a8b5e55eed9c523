import { join } from 'node:path';
import { type HookHost, makeHandlers, TIMEOUT_SECONDS } from '../hook-host.ts';
import { makeServerCommand } from '../server-command.ts';
import { findRoot } from './places.ts';

/** No matcher: those of Gemini CLI are compared as they stand, and none matches all. Timeouts are in milliseconds. */
export const geminiHookHost: HookHost = {
  agent: 'gemini',
  title: 'Gemini CLI',
  program: 'gemini',
  findHome: findRoot,
  projectFolder: '.gemini',
  listFiles: ({ folder, launcher }) => [
    {
      kind: 'entries',
      agent: 'gemini',
      path: join(folder, 'settings.json'),
      form: 'grouped',
      handlers: makeHandlers('gemini', launcher, ({ command }) => ({
        name: 'agent-handover',
        type: 'command',
        command,
        timeout: TIMEOUT_SECONDS * 1000,
      })),
      skeleton: {},
      offSwitches: [{ path: ['hooksConfig', 'enabled'], value: false }],
      server: { section: 'mcpServers', value: { ...makeServerCommand(launcher, 'gemini') } },
    },
  ],
};
