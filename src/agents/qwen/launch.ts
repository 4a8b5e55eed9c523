import type { Launch } from '../launch.ts';

export const qwenLaunch: Launch = {
  program: 'qwen',
  install: 'npm install -g @qwen-code/qwen-code',
  takes: 'prompt',
  attachesFiles: true,
  writeArgs: (prompt) => ['--prompt-interactive', prompt],
};
