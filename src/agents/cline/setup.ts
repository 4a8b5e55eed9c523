import { join } from 'node:path';
import { DEFAULT_DIALECT, HOOK_EVENTS, type HookDialect, readDefaultInput } from '../hook-input.ts';
import * as setup from '../hook-setup.ts';
import { findAgentHome } from '../shared/files.ts';
import { getRow, getText } from '../shared/json.ts';

/** Cline waits only for the hooks around tools; those of the task cannot add anything. */
export const clineHook: HookDialect = {
  ...DEFAULT_DIALECT,
  read: (input) => {
    const session = getText(getRow(input, 'sessionContext'), 'rootSessionId') ?? getText(input, 'taskId');
    const roots: unknown = input.workspaceRoots;
    const [root] = Array.isArray(roots) ? roots.filter((path) => typeof path === 'string') : [];
    const usual = { session_id: session, terminal_id: input.terminal_id };
    return readDefaultInput(usual, {
      cwd: root ?? getText(getRow(input, 'workspaceInfo'), 'rootPath'),
      lastReply: getText(getRow(input, 'turn'), 'outputText'),
      isSubAgent: getText(input, 'parent_agent_id') !== null,
    });
  },
  write: (_, text) => JSON.stringify({ context: text }),
  canDeliver: (moment) => moment === 'tool',
  startsAfterCompaction: false,
  writesLate: true,
};

/** Cline runs each file named after an event. Ours have an extension, to fit beside the user's own, which has none. */
export const clineHookHost: setup.HookHost = {
  agent: 'cline',
  title: 'Cline',
  program: 'cline',
  findHome: (machine) => findAgentHome('cline', machine),
  projectFolder: '.cline',
  listFiles: (place) => {
    const hooks = Object.keys(HOOK_EVENTS.cline).map((event) => describeHookFile(place, event));
    // There are no servers for one project.
    if (place.scope === 'project') return hooks;
    const path = join(place.folder, 'data', 'settings', 'cline_mcp_settings.json');
    const server = { section: 'mcpServers', value: { ...setup.makeServerCommand(place.launcher, 'cline') } };
    return [...hooks, setup.describeEntries('cline', path, { server })];
  },
};

const MARK = '# Written by "handover hooks install", removed by "handover hooks uninstall".';

function describeHookFile({ folder, launcher, platform }: setup.HookPlace, event: string): setup.WholeFile {
  const isWindows = platform === 'win32';
  const command = setup.formatHookCommand(launcher, {
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
      return setup.parseHookCommand(line.trimEnd(), 'cline');
    },
  };
}
