import { AGENT_NAMES, type AgentName } from '../../agents/agent.ts';
import { HandoverError } from '../../errors.ts';
import { cleanLine } from '../../model/text.ts';
import type { Env } from '../../platform/machine.ts';

export function requireAgent(words: string): AgentName {
  const name = AGENT_NAMES.find((known) => known === words.trim().toLowerCase());
  if (name !== undefined) return name;
  throw new HandoverError('HANDOVER_USAGE', `"${cleanLine(words)}" is not an agent that can be read`, {
    hint: `Give one of: ${AGENT_NAMES.join(', ')}.`,
  });
}

/** Variables by which agents tell the programs that they start which session it is. */
const SESSION_VARIABLES = [
  'CLAUDE_CODE_SESSION_ID',
  'CODEX_THREAD_ID',
  'GEMINI_SESSION_ID',
  'QWEN_CODE_SESSION_ID',
  'COPILOT_AGENT_SESSION_ID',
];

/** The sessions that this command runs within: they are not over, and do not take over from themselves. */
export function listRunningSessions(env: Env): Set<string> {
  return new Set(SESSION_VARIABLES.map((name) => env[name]).filter((id) => id !== undefined));
}

/** Variables that agents set for the programs they start. */
const AGENT_MARKS: readonly (readonly [variable: string, agent: string])[] = [
  ['CLAUDECODE', 'claude-code'],
  ['CODEX_SANDBOX', 'codex'],
  ['CODEX_THREAD_ID', 'codex'],
  ['GEMINI_CLI', 'gemini'],
  ['QWEN_CODE', 'qwen'],
  ['OPENCODE', 'opencode'],
  ['COPILOT_CLI', 'copilot'],
  ['CLINE_ACTIVE', 'cline'],
];

export function detectAgent(env: Env): string | null {
  return AGENT_MARKS.find(([variable]) => env[variable])?.[1] ?? null;
}
