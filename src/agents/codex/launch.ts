import type { Launch } from '../agent.ts';

export const codexLaunch: Launch = {
  program: 'codex',
  install: 'npm install -g @openai/codex',
  takes: 'prompt',
  attachesFiles: false,
  writeArgs: (prompt) => [prompt],
};
