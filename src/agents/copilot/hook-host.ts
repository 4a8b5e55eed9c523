import { join } from 'node:path';
import {
  describeServerFile,
  formatHookCommand,
  type HookHost,
  makeHandlers,
  makeServerCommand,
  TIMEOUT_SECONDS,
} from '../hook-setup.ts';
import { findCopilotHome } from './paths.ts';

/** Copilot CLI reads every file in its hooks folder, so ours is one of its own. */
export const copilotHookHost: HookHost = {
  agent: 'copilot',
  title: 'Copilot CLI',
  program: 'copilot',
  findHome: findCopilotHome,
  projectFolder: '.github',
  listFiles: ({ scope, folder, launcher }) => [
    {
      kind: 'entries',
      agent: 'copilot',
      path: join(folder, 'hooks', 'agent-handover.json'),
      form: 'flat',
      handlers: makeHandlers('copilot', launcher, ({ event, command }) => ({
        type: 'command',
        bash: command,
        powershell: formatHookCommand(launcher, { agent: 'copilot', event, shell: 'powershell' }),
        timeoutSec: TIMEOUT_SECONDS,
      })),
      skeleton: { version: 1 },
      offSwitches: [],
      server: null,
    },
    describeServerFile('copilot', join(folder, scope === 'user' ? 'mcp-config.json' : 'mcp.json'), {
      section: 'mcpServers',
      value: { type: 'local', ...makeServerCommand(launcher, 'copilot'), tools: ['*'] },
    }),
  ],
};
