import type { Launch } from '../agent.ts';

export const copilotLaunch: Launch = {
  program: 'copilot',
  install: 'npm install -g @github/copilot',
  takes: 'prompt',
  attachesFiles: true,
  writeArgs: (prompt) => ['--interactive', prompt],
};
