import type { Driver } from './driver.ts';
import { writeSettings } from './settings.ts';

const CONTEXT = 50_000;

export const opencode: Driver = {
  agent: 'opencode',
  program: 'opencode',
  prepare: ({ home, modelUrl }) =>
    writeSettings(home, '.config/opencode/opencode.json', {
      $schema: 'https://opencode.ai/config.json',
      autoupdate: false,
      share: 'disabled',
      model: 'scripted/scripted',
      small_model: 'scripted/scripted',
      permission: { edit: 'allow', bash: 'allow' },
      provider: {
        scripted: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Scripted',
          options: { baseURL: `${modelUrl}/v1`, apiKey: 'dummy-key' },
          models: { scripted: { name: 'Scripted', limit: { context: CONTEXT, output: 4_000 } } },
        },
      },
    }),
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
  }),
  ask: ({ prompt, goOn }) => ['run', '--format', 'json', ...(goOn ? ['--continue'] : []), prompt],
  edit: (path, { from, to }) => [
    { name: 'read', args: { filePath: path } },
    { name: 'edit', args: { filePath: path, oldString: from, newString: to } },
  ],
  run: (command) => ({ name: 'bash', args: { command, description: 'Check' } }),
  nameTool: (tool) => ({ name: `handover_${tool}` }),
  compactions: [{ by: 'tokens', tokens: CONTEXT - 1_000, restoredAtOnce: true }],
  reachedBy: 'start',
};
