import type { Agent, AgentName } from './agent.ts';

/** Every agent's reader, loaded only when it is asked for. Forgetting one is a compile error. */
const AGENTS: Record<AgentName, () => Promise<Agent>> = {
  'claude-code': async () => (await import('./claude-code/transcript.ts')).claudeCodeAgent,
  codex: async () => (await import('./codex/transcript.ts')).codexAgent,
  gemini: async () => (await import('./gemini/agent.ts')).geminiAgent,
  opencode: async () => (await import('./opencode/agent.ts')).opencodeAgent,
  qwen: async () => (await import('./qwen/agent.ts')).qwenAgent,
  copilot: async () => (await import('./copilot/transcript.ts')).copilotAgent,
  cline: async () => (await import('./cline/transcript.ts')).clineAgent,
  goose: async () => (await import('./goose/agent.ts')).gooseAgent,
  pi: async () => (await import('./pi/agent.ts')).piAgent,
  aider: async () => (await import('./aider/agent.ts')).aiderAgent,
};

export async function loadAgent(name: AgentName): Promise<Agent> {
  return await AGENTS[name]();
}
