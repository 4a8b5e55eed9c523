import { pathExists } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import type { Agent, AgentName, FoundSession, Launch, RecallSession } from './agent.ts';
import * as aider from './aider/sessions.ts';
import * as claudeCode from './claude-code/sessions.ts';
import * as cline from './cline/sessions.ts';
import * as codex from './codex/sessions.ts';
import * as copilot from './copilot/sessions.ts';
import * as gemini from './gemini/sessions.ts';
import * as goose from './goose/sessions.ts';
import * as opencode from './opencode/sessions.ts';
import * as pi from './pi/sessions.ts';
import * as qwen from './qwen/sessions.ts';
import { inspectAll } from './shared/files.ts';

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

type Finding = Pick<Agent, 'listTranscripts' | 'inspectFile'> & Partial<Pick<Agent, 'findSessions'>>;

/** Where the sessions of an agent are, which needs no reader. */
const FINDINGS: Readonly<Record<AgentName, Finding>> = {
  'claude-code': claudeCode,
  codex,
  gemini,
  opencode,
  qwen,
  copilot,
  cline,
  goose,
  pi,
  // Its history file is in the project, and listed even where there is none.
  aider: { ...aider, listTranscripts: (machine) => aider.listTranscripts(machine).filter(pathExists) },
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

/** All sessions of an agent, in no order, without loading its reader. */
export function findAgentSessions(name: AgentName, machine: Machine, recall?: RecallSession): Iterable<FoundSession> {
  const { findSessions, listTranscripts, inspectFile } = FINDINGS[name];
  return findSessions?.(machine, recall) ?? inspectAll(listTranscripts(machine), inspectFile, recall);
}

export function findLaunch(name: AgentName): Launch {
  return LAUNCHES[name];
}
