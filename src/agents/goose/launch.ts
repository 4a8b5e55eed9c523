import type { Launch } from '../launch.ts';

export const gooseLaunch: Launch = {
  program: 'goose',
  install: 'see the installation page of Goose',
  takes: 'prompt',
  attachesFiles: false,
  writeArgs: (prompt) => ['run', '--interactive', '--text', prompt],
};
