import type { Launch } from '../launch.ts';

export const geminiLaunch: Launch = {
  program: 'gemini',
  install: 'npm install -g @google/gemini-cli',
  takes: 'prompt',
  attachesFiles: true,
  writeArgs: (prompt) => ['--prompt-interactive', prompt],
};
