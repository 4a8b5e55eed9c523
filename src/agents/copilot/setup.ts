import { join } from 'node:path';
import { DEFAULT_DIALECT, type HookDialect, readDefaultInput } from '../hook-input.ts';
import {
  describeEntries,
  formatHookCommand,
  type HookHost,
  makeHandlers,
  makeServerCommand,
  TIMEOUT_SECONDS,
} from '../hook-setup.ts';
import { findAgentHome } from '../shared/files.ts';
import { getText } from '../shared/json.ts';

export const copilotHook: HookDialect = {
  ...DEFAULT_DIALECT,
  read: (input) => {
    const session_id = getText(input, 'sessionId', 'session_id');
    const transcript = getText(input, 'transcriptPath', 'transcript_path');
    return readDefaultInput({ ...input, session_id }, { transcript, lastReply: null, isSubAgent: false });
  },
  write: (_, text) => JSON.stringify({ additionalContext: text }),
  startsAfterCompaction: false,
  keepsContext: false,
  writesLate: true,
};

/** Copilot CLI reads every file in its hooks folder, so ours is separate. */
export const copilotHookHost: HookHost = {
  agent: 'copilot',
  title: 'Copilot CLI',
  program: 'copilot',
  findHome: (machine) => findAgentHome('copilot', machine),
  projectFolder: '.github',
  listFiles: ({ scope, folder, launcher }) => [
    describeEntries('copilot', join(folder, 'hooks', 'agent-handover.json'), {
      handlers: makeHandlers('copilot', launcher, ({ event, command }) => ({
        type: 'command',
        bash: command,
        powershell: formatHookCommand(launcher, { agent: 'copilot', event, shell: 'powershell' }),
        timeoutSec: TIMEOUT_SECONDS,
      })),
      skeleton: { version: 1 },
    }),
    describeEntries('copilot', join(folder, scope === 'user' ? 'mcp-config.json' : 'mcp.json'), {
      server: {
        section: 'mcpServers',
        value: { type: 'local', ...makeServerCommand(launcher, 'copilot'), tools: ['*'] },
      },
    }),
  ],
};
