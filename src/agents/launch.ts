import type { AgentName } from './agent.ts';
import { aiderLaunch } from './aider/launch.ts';
import { claudeCodeLaunch } from './claude-code/setup.ts';
import { clineLaunch } from './cline/setup.ts';
import { codexLaunch } from './codex/setup.ts';
import { copilotLaunch } from './copilot/setup.ts';
import { geminiLaunch } from './gemini/launch.ts';
import { gooseLaunch } from './goose/launch.ts';
import { opencodeLaunch } from './opencode/launch.ts';
import { piLaunch } from './pi/launch.ts';
import { qwenLaunch } from './qwen/launch.ts';

/** How a person starts an agent, in its own interface, with something to begin with. */
export interface Launch {
  /** As it is found in PATH. */
  program: string;
  /** What to type to get the program. */
  install: string;
  /** What the arguments are made of: the first prompt itself, or the path of a file that holds it. */
  takes: 'prompt' | 'file';
  /** An @ before the name of a file makes the agent attach that file, wherever in the prompt it stands. */
  attachesFiles: boolean;
  writeArgs(promptOrFile: string): string[];
}

const LAUNCHES: Record<AgentName, Launch> = {
  'claude-code': claudeCodeLaunch,
  codex: codexLaunch,
  gemini: geminiLaunch,
  opencode: opencodeLaunch,
  qwen: qwenLaunch,
  copilot: copilotLaunch,
  cline: clineLaunch,
  goose: gooseLaunch,
  pi: piLaunch,
  aider: aiderLaunch,
};

export function findLaunch(agent: AgentName): Launch {
  return LAUNCHES[agent];
}
