import { join } from 'node:path';
import { DEFAULT_DIALECT, type HookDialect, readDefaultInput } from '../hook-input.ts';
import * as setup from '../hook-setup.ts';
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
export const copilotHookHost: setup.HookHost = {
  agent: 'copilot',
  title: 'Copilot CLI',
  program: 'copilot',
  findHome: (machine) => findAgentHome('copilot', machine),
  projectFolder: '.github',
  listFiles: ({ scope, folder, launcher }) => [
    setup.describeEntries('copilot', join(folder, 'hooks', 'agent-handover.json'), {
      handlers: setup.makeHandlers('copilot', launcher, ({ event, command }) => ({
        type: 'command',
        bash: command,
        powershell: setup.formatHookCommand(launcher, { agent: 'copilot', event, shell: 'powershell' }),
        timeoutSec: setup.TIMEOUT_SECONDS,
      })),
      skeleton: { version: 1 },
    }),
    setup.describeEntries('copilot', join(folder, scope === 'user' ? 'mcp-config.json' : 'mcp.json'), {
      server: {
        section: 'mcpServers',
        value: { type: 'local', ...setup.makeServerCommand(launcher, 'copilot'), tools: ['*'] },
      },
    }),
  ],
};
