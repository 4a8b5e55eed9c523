import type { Driver } from './driver.ts';
import { writeSettings } from './settings.ts';

export const gemini: Driver = {
  agent: 'gemini',
  program: 'gemini',
  prepare: ({ home }) =>
    writeSettings(home, '.gemini/settings.json', {
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      model: { compressionThreshold: 0.02 },
    }),
  env: ({ modelUrl }) => ({
    GEMINI_API_KEY: 'dummy-key',
    GOOGLE_GEMINI_BASE_URL: modelUrl,
    GEMINI_TELEMETRY_ENABLED: 'false',
  }),
  ask: ({ prompt, goOn }) => ['--yolo', '-o', 'stream-json', ...(goOn ? ['--resume', 'latest'] : []), '-p', prompt],
  inTerminal: ['--yolo'],
  clear: '/clear',
  edit: (path, { from, to }) => [
    { name: 'read_file', args: { file_path: path } },
    {
      name: 'replace',
      args: { file_path: path, instruction: 'Change it', old_string: from, new_string: to },
    },
  ],
  run: (command) => ({ name: 'run_shell_command', args: { command, description: 'Check' } }),
  nameTool: (tool) => ({ name: `mcp_handover_${tool}` }),
  compactions: [{ by: 'tokens', tokens: 600_000, restoredAtOnce: false }],
  reachedBy: 'start',
};
