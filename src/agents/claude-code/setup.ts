import { dirname, join } from 'node:path';
import { DEFAULT_DIALECT, type HookDialect, readDefaultInput } from '../hook-input.ts';
import { describeEntries, type HookHost, makeHandlers, makeServerCommand, TIMEOUT_SECONDS } from '../hook-setup.ts';
import { findAgentHome } from '../shared/files.ts';
import { getText } from '../shared/json.ts';

/** Sources of prompts that nobody typed. */
const TIMERS: ReadonlySet<string> = new Set(['loop_wakeup', 'schedule_wakeup', 'poll_event']);

export const claudeCodeHook: HookDialect = {
  ...DEFAULT_DIALECT,
  read: (input) => readDefaultInput(input, { isScheduled: TIMERS.has(getText(input, 'source') ?? '') }),
};

/** In a project the local settings are used, which are not committed: the paths are those of one machine. */
export const claudeCodeHookHost: HookHost = {
  agent: 'claude-code',
  title: 'Claude Code',
  program: 'claude',
  findHome: (machine) => findAgentHome('claude-code', machine),
  projectFolder: '.claude',
  listFiles: ({ scope, folder, launcher, env }) => {
    const userServers = join(env.CLAUDE_CONFIG_DIR ? folder : dirname(folder), '.claude.json');
    const servers = scope === 'project' ? join(dirname(folder), '.mcp.json') : userServers;
    return [
      describeEntries('claude-code', join(folder, scope === 'user' ? 'settings.json' : 'settings.local.json'), {
        form: 'grouped',
        handlers: makeHandlers('claude-code', launcher, ({ command }) => ({
          type: 'command',
          command,
          timeout: TIMEOUT_SECONDS,
        })),
        offSwitches: [{ path: ['disableAllHooks'], value: true }],
      }),
      describeEntries('claude-code', servers, {
        server: { section: 'mcpServers', value: { type: 'stdio', ...makeServerCommand(launcher, 'claude-code') } },
      }),
    ];
  },
};
