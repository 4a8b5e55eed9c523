import type { Driver } from './driver.ts';
import { writeSettings } from './settings.ts';

export const qwen: Driver = {
  agent: 'qwen',
  program: 'qwen',
  prepare: ({ home }) =>
    writeSettings(home, '.qwen/settings.json', {
      general: { enableAutoUpdate: false, disableUpdateNag: true },
      privacy: { usageStatisticsEnabled: false },
      security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
    }),
  env: ({ modelUrl }) => ({
    OPENAI_API_KEY: 'dummy-key',
    OPENAI_BASE_URL: `${modelUrl}/v1`,
    OPENAI_MODEL: 'scripted',
    QWEN_TELEMETRY_ENABLED: 'false',
  }),
  ask: ({ prompt, goOn }) => [
    '--yolo',
    '--output-format',
    'stream-json',
    ...(goOn ? ['--continue'] : []),
    '-p',
    prompt,
  ],
  inTerminal: ['--yolo'],
  clear: '/clear',
  edit: (path, { from, to }) => [
    { name: 'read_file', args: { file_path: path } },
    { name: 'edit', args: { file_path: path, old_string: from, new_string: to } },
  ],
  run: (command) => ({ name: 'run_shell_command', args: { command, is_background: false } }),
  nameTool: (tool) => ({ name: `mcp__handover__${tool}` }),
  compactions: [{ by: 'prompt', prompt: '/compress', restoredAtOnce: false }],
  reachedBy: 'start',
};
