import type { Launch } from '../agent.ts';

export const piLaunch: Launch = {
  program: 'pi',
  install: 'npm install -g @earendil-works/pi-coding-agent',
  takes: 'prompt',
  attachesFiles: true,
  writeArgs: (prompt) => [prompt],
};
