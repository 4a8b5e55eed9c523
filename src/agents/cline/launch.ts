import type { Launch } from '../agent.ts';

export const clineLaunch: Launch = {
  program: 'cline',
  install: 'npm install -g cline',
  takes: 'prompt',
  attachesFiles: true,
  writeArgs: (prompt) => ['--tui', prompt],
};
