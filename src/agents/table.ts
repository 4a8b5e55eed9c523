import { pathExists } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import type { Agent, AgentName, Launch } from './agent.ts';
import { aiderLaunch, listTranscripts as listAider } from './aider/sessions.ts';
import { listTranscripts as listClaudeCode } from './claude-code/sessions.ts';
import { claudeCodeLaunch } from './claude-code/setup.ts';
import { listTranscripts as listCline } from './cline/sessions.ts';
import { clineLaunch } from './cline/setup.ts';
import { listTranscripts as listCodex } from './codex/sessions.ts';
import { codexLaunch } from './codex/setup.ts';
import { listTranscripts as listCopilot } from './copilot/sessions.ts';
import { copilotLaunch } from './copilot/setup.ts';
import { listTranscripts as listGemini } from './gemini/sessions.ts';
import { geminiLaunch } from './gemini/setup.ts';
import { gooseLaunch, listTranscripts as listGoose } from './goose/sessions.ts';
import { listTranscripts as listOpencode } from './opencode/sessions.ts';
import { opencodeLaunch } from './opencode/setup.ts';
import { listTranscripts as listPi, piLaunch } from './pi/sessions.ts';
import { listTranscripts as listQwen } from './qwen/sessions.ts';
import { qwenLaunch } from './qwen/setup.ts';

/* Every agent. A missing one is a compile error. */

/** The readers take long to import: only when the agent is needed. */
const LOADERS: Readonly<Record<AgentName, () => Promise<Agent>>> = {
  'claude-code': async () => (await import('./claude-code/transcript.ts')).claudeCodeAgent,
  codex: async () => (await import('./codex/transcript.ts')).codexAgent,
  gemini: async () => (await import('./gemini/transcript.ts')).geminiAgent,
  opencode: async () => (await import('./opencode/transcript.ts')).opencodeAgent,
  qwen: async () => (await import('./qwen/transcript.ts')).qwenAgent,
  copilot: async () => (await import('./copilot/transcript.ts')).copilotAgent,
  cline: async () => (await import('./cline/transcript.ts')).clineAgent,
  goose: async () => (await import('./goose/transcript.ts')).gooseAgent,
  pi: async () => (await import('./pi/transcript.ts')).piAgent,
  aider: async () => (await import('./aider/transcript.ts')).aiderAgent,
};

const LISTS: Readonly<Record<AgentName, Agent['listTranscripts']>> = {
  'claude-code': listClaudeCode,
  codex: listCodex,
  gemini: listGemini,
  opencode: listOpencode,
  qwen: listQwen,
  copilot: listCopilot,
  cline: listCline,
  goose: listGoose,
  pi: listPi,
  // Its history file is in the project, and listed even where there is none.
  aider: (machine) => listAider(machine).filter(pathExists),
};

const LAUNCHES: Readonly<Record<AgentName, Launch>> = {
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

export function loadAgent(name: AgentName): Promise<Agent> {
  return LOADERS[name]();
}

/** Whether this agent left any transcripts here. Much cheaper than loading its reader. */
export function hasTranscripts(name: AgentName, machine: Machine): boolean {
  for (const _ of LISTS[name](machine)) return true;
  return false;
}

export function findLaunch(name: AgentName): Launch {
  return LAUNCHES[name];
}
