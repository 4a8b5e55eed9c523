import { join } from 'node:path';
import { HOOK_EVENTS } from '../hook-input.ts';
import {
  describeServerFile,
  formatHookCommand,
  type HookFile,
  type HookHost,
  type HookPlace,
  makeServerCommand,
  parseHookCommand,
  type WholeFile,
} from '../hook-setup.ts';
import { findClineHome } from './places.ts';

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
