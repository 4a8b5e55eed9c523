import { join } from 'node:path';
import type { HookMoment } from '../hook-input.ts';
import {
  type HookHandler,
  type HookHost,
  makeHandlers,
  makeServerCommand,
  TIMEOUT_SECONDS,
} from '../hook-setup.ts';
import { codexHookTrust } from './hook-trust.ts';
import { findCodexHome } from './paths.ts';

/** Codex gives these no more, whatever is asked for. */
const SHORT_EVENTS = ['SessionEnd', 'Interrupt'];
const SHORT_SECONDS = 3;

/** Of what is put before the model; a brief keeps within its own budget, and would else be cut in its middle. */
const UNLIMITED = { additionalContextLimit: 0 };
const SPEAKING: readonly HookMoment[] = ['start', 'prompt'];

export const codexHookHost: HookHost = {
  agent: 'codex',
  title: 'Codex',
  program: 'codex',
  findHome: findCodexHome,
  projectFolder: '.codex',
  trust: codexHookTrust,
  listFiles: ({ folder, launcher }) => [
    {
      kind: 'entries',
      agent: 'codex',
      path: join(folder, 'hooks.json'),
      form: 'grouped',
      handlers: makeHandlers('codex', launcher, describeHandler),
      skeleton: {},
      offSwitches: [],
      server: null,
    },
    {
      kind: 'table',
      agent: 'codex',
      path: join(folder, 'config.toml'),
      section: 'mcp_servers',
      value: { ...makeServerCommand(launcher, 'codex') },
    },
  ],
};

function describeHandler(hook: { event: string; moment: HookMoment; command: string }): HookHandler {
  return {
    type: 'command',
    command: hook.command,
    timeout: SHORT_EVENTS.includes(hook.event) ? SHORT_SECONDS : TIMEOUT_SECONDS,
    ...(SPEAKING.includes(hook.moment) ? UNLIMITED : {}),
  };
}
