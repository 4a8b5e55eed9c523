import type { Launch } from '../agent.ts';

export const aiderLaunch: Launch = {
  program: 'aider',
  install: 'python -m pip install aider-install && aider-install',
  takes: 'file',
  attachesFiles: false,
  // Its --message ends the program after one answer; a file that is only read stays in view.
  writeArgs: (file) => ['--read', file],
};
