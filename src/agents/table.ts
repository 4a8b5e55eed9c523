import { pathExists } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import type { Agent, AgentName, Launch } from './agent.ts';
import { listTranscripts as listAider } from './aider/sessions.ts';
import { listTranscripts as listClaudeCode } from './claude-code/sessions.ts';
import { listTranscripts as listCline } from './cline/sessions.ts';
import { listTranscripts as listCodex } from './codex/sessions.ts';
import { listTranscripts as listCopilot } from './copilot/sessions.ts';
import { listTranscripts as listGemini } from './gemini/sessions.ts';
import { listTranscripts as listGoose } from './goose/sessions.ts';
import { listTranscripts as listOpencode } from './opencode/sessions.ts';
import { listTranscripts as listPi } from './pi/sessions.ts';
import { listTranscripts as listQwen } from './qwen/sessions.ts';

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

/** An agent that takes the first prompt as its last argument. */
function takesPrompt(program: string, install: string, options: readonly string[], attachesFiles = false): Launch {
  return { program, install, takes: 'prompt', attachesFiles, writeArgs: (prompt) => [...options, prompt] };
}

const ATTACHES = true;

const LAUNCHES: Readonly<Record<AgentName, Launch>> = {
  'claude-code': takesPrompt('claude', 'npm install -g @anthropic-ai/claude-code', [], ATTACHES),
  codex: takesPrompt('codex', 'npm install -g @openai/codex', []),
  gemini: takesPrompt('gemini', 'npm install -g @google/gemini-cli', ['--prompt-interactive'], ATTACHES),
  opencode: takesPrompt('opencode', 'npm install -g opencode-ai', ['--prompt']),
  qwen: takesPrompt('qwen', 'npm install -g @qwen-code/qwen-code', ['--prompt-interactive'], ATTACHES),
  copilot: takesPrompt('copilot', 'npm install -g @github/copilot', ['--interactive'], ATTACHES),
  cline: takesPrompt('cline', 'npm install -g cline', ['--tui'], ATTACHES),
  goose: takesPrompt('goose', 'see the installation page of Goose', ['run', '--interactive', '--text']),
  pi: takesPrompt('pi', 'npm install -g @earendil-works/pi-coding-agent', [], ATTACHES),
  aider: {
    program: 'aider',
    install: 'python -m pip install aider-install && aider-install',
    takes: 'file',
    attachesFiles: false,
    // Its --message ends the program after one answer; a file that is only read stays in view.
    writeArgs: (file) => ['--read', file],
  },
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
