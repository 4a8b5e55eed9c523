import type { Launch } from '../agent.ts';

export const claudeCodeLaunch: Launch = {
  program: 'claude',
  install: 'npm install -g @anthropic-ai/claude-code',
  takes: 'prompt',
  attachesFiles: true,
  writeArgs: (prompt) => [prompt],
};
