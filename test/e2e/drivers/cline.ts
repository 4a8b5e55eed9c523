import type { Driver } from './driver.ts';

export const cline: Driver = {
  agent: 'cline',
  program: 'cline',
  prepare: () => undefined,
  env: () => ({}),
  signIn: ({ modelUrl }) => [
    'auth',
    '-p',
    'openai-compatible',
    '-k',
    'dummy-key',
    '-m',
    'scripted',
    '-b',
    `${modelUrl}/v1`,
  ],
  ask: ({ prompt }) => ['--json', prompt],
  cannotGoOn: true,
  edit: (path, { from, to }) => [{ name: 'editor', args: { path, old_text: from, new_text: to } }],
  run: (command) => ({ name: 'run_commands', args: { commands: [command] } }),
  nameTool: (tool) => ({ name: `handover__${tool}` }),
  compactions: [],
  reachedBy: 'tool',
  cleanUp: ['hub', 'stop'],
};
