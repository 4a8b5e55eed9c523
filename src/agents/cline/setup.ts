import { join } from 'node:path';
import { formatHookCommand, parseHookCommand } from '../hook-command.ts';
import { HOOK_EVENTS } from '../hook-events.ts';
import {
  describeServerFile,
  type HookFile,
  type HookHost,
  type HookPlace,
  type WholeFile,
} from '../hook-host.ts';
import { type HookDialect, USUAL_DIALECT } from '../hook-input.ts';
import { getRow, getText } from '../json.ts';
import type { Launch } from '../launch.ts';
import { makeServerCommand } from '../server-command.ts';
import { findClineHome } from './sessions.ts';

/** Only the hooks around tools are waited for; the task's own hooks cannot add anything. */
export const clineHook: HookDialect = {
  ...USUAL_DIALECT,
  read: (input) => {
    const session = getText(getRow(input, 'sessionContext'), 'rootSessionId') ?? getText(input, 'taskId');
    if (session === null || session === '') return null;
    const roots: unknown = input.workspaceRoots;
    const [root] = Array.isArray(roots) ? roots.filter((path) => typeof path === 'string') : [];
    return {
      session,
      cwd: root ?? getText(getRow(input, 'workspaceInfo'), 'rootPath'),
      transcript: null,
      source: null,
      isManual: false,
      hasPrompt: false,
      lastReply: getText(getRow(input, 'turn'), 'outputText'),
      terminal: getText(input, 'terminal_id'),
      isSubAgent: getText(input, 'parent_agent_id') !== null,
      isScheduled: false,
    };
  },
  write: (_, text) => JSON.stringify({ context: text }),
  reaches: (moment) => moment === 'tool',
  startsAfterCompaction: false,
  lags: true,
};

/**
 * Cline runs every file in its hooks folder that is named after an event, with any of several endings. Ours have an
 * ending, so that they can lie beside a hook of the user's own, which usually has none.
 */
export const clineHookHost: HookHost = {
  agent: 'cline',
  title: 'Cline',
  program: 'cline',
  findHome: findClineHome,
  projectFolder: '.cline',
  listFiles: (place) => [
    ...Object.keys(HOOK_EVENTS.cline).map((event) => describeFile(place, event)),
    ...listServerFiles(place),
  ],
};

/** Cline has no servers for one project. */
function listServerFiles({ scope, folder, launcher }: HookPlace): HookFile[] {
  if (scope === 'project') return [];
  const path = join(folder, 'data', 'settings', 'cline_mcp_settings.json');
  return [
    describeServerFile('cline', path, {
      section: 'mcpServers',
      value: { ...makeServerCommand(launcher, 'cline') },
    }),
  ];
}

const MARK = '# Written by "handover hooks install", removed by "handover hooks uninstall".';

function describeFile({ folder, launcher, platform }: HookPlace, event: string): WholeFile {
  const isWindows = platform === 'win32';
  const command = formatHookCommand(launcher, {
    agent: 'cline',
    event,
    shell: isWindows ? 'powershell' : 'posix',
  });
  return {
    kind: 'whole',
    agent: 'cline',
    path: join(folder, 'hooks', `${event}${isWindows ? '.ps1' : '.sh'}`),
    content: isWindows ? `${MARK}\r\n$input | ${command}\r\n` : `#!/bin/sh\n${MARK}\nexec ${command}\n`,
    mode: 0o700,
    parse: (content) => {
      if (!content.includes(MARK)) return null;
      const line = /^(?:exec |\$input \| & )(.*)$/m.exec(content)?.[1] ?? '';
      return parseHookCommand(line.trimEnd(), 'cline');
    },
  };
}

export const clineLaunch: Launch = {
  program: 'cline',
  install: 'npm install -g cline',
  takes: 'prompt',
  attachesFiles: true,
  writeArgs: (prompt) => ['--tui', prompt],
};
