import type { Launch } from '../launch.ts';

export const opencodeLaunch: Launch = {
  program: 'opencode',
  install: 'npm install -g opencode-ai',
  takes: 'prompt',
  attachesFiles: false,
  writeArgs: (prompt) => ['--prompt', prompt],
};
