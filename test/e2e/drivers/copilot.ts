import type { Driver } from './driver.ts';
import { writeSettings } from './settings.ts';

export const copilot: Driver = {
  agent: 'copilot',
  program: 'copilot',
  prepare: ({ home, project }) =>
    writeSettings(home, '.copilot/config.json', { trusted_folders: [project], trustedFolders: [project] }),
  env: ({ modelUrl }) => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
    COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
    COPILOT_PROVIDER_API_KEY: 'dummy-key',
    COPILOT_MODEL: 'scripted',
  }),
  ask: ({ prompt, goOn }) => ['--allow-all-tools', '-s', ...(goOn ? ['--continue'] : []), '-p', prompt],
  inTerminal: ['--allow-all-tools'],
  clear: '/clear',
  edit: (path, { from, to }) => [
    { name: 'view', args: { path } },
    { name: 'edit', args: { path, old_str: from, new_str: to } },
  ],
  run: (command) => ({ name: 'bash', args: { command, description: 'Check' } }),
  nameTool: (tool) => ({ name: `handover-${tool}` }),
  compactions: [{ by: 'prompt', prompt: '/compact', restoredAtOnce: false }],
  reachedBy: 'start',
};
