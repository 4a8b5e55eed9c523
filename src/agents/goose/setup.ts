import type { Launch } from '../agent.ts';

export const gooseLaunch: Launch = {
  program: 'goose',
  install: 'see the installation page of Goose',
  takes: 'prompt',
  attachesFiles: false,
  writeArgs: (prompt) => ['run', '--interactive', '--text', prompt],
};
