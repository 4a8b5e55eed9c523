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

interface AgentEntry {
  /** Imports the reader, which takes long: only when the agent is needed. */
  load(): Promise<Agent>;
  listTranscripts(machine: Machine): Iterable<string>;
  launch: Launch;
}

/** Every agent. A missing one is a compile error. */
const AGENTS = {
  'claude-code': {
    load: async () => (await import('./claude-code/transcript.ts')).claudeCodeAgent,
    listTranscripts: listClaudeCode,
    launch: claudeCodeLaunch,
  },
  codex: {
    load: async () => (await import('./codex/transcript.ts')).codexAgent,
    listTranscripts: listCodex,
    launch: codexLaunch,
  },
  gemini: {
    load: async () => (await import('./gemini/transcript.ts')).geminiAgent,
    listTranscripts: listGemini,
    launch: geminiLaunch,
  },
  opencode: {
    load: async () => (await import('./opencode/transcript.ts')).opencodeAgent,
    listTranscripts: listOpencode,
    launch: opencodeLaunch,
  },
  qwen: {
    load: async () => (await import('./qwen/transcript.ts')).qwenAgent,
    listTranscripts: listQwen,
    launch: qwenLaunch,
  },
  copilot: {
    load: async () => (await import('./copilot/transcript.ts')).copilotAgent,
    listTranscripts: listCopilot,
    launch: copilotLaunch,
  },
  cline: {
    load: async () => (await import('./cline/transcript.ts')).clineAgent,
    listTranscripts: listCline,
    launch: clineLaunch,
  },
  goose: {
    load: async () => (await import('./goose/transcript.ts')).gooseAgent,
    listTranscripts: listGoose,
    launch: gooseLaunch,
  },
  pi: {
    load: async () => (await import('./pi/transcript.ts')).piAgent,
    listTranscripts: listPi,
    launch: piLaunch,
  },
  aider: {
    load: async () => (await import('./aider/transcript.ts')).aiderAgent,
    // Its history file is in the project, and listed even where there is none.
    listTranscripts: (machine) => listAider(machine).filter(pathExists),
    launch: aiderLaunch,
  },
} satisfies Record<AgentName, AgentEntry>;

export function loadAgent(name: AgentName): Promise<Agent> {
  return AGENTS[name].load();
}

/** Whether this agent left any transcripts here. Much cheaper than loading its reader. */
export function hasTranscripts(name: AgentName, machine: Machine): boolean {
  for (const _ of AGENTS[name].listTranscripts(machine)) return true;
  return false;
}

export function findLaunch(name: AgentName): Launch {
  return AGENTS[name].launch;
}
