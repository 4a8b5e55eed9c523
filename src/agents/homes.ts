import { join, resolve } from 'node:path';
import type { Machine } from '../platform/machine.ts';

/** The variable that moves an agent's folder, and the folder's name in the user's home. */
const HOMES = {
  'claude-code': ['CLAUDE_CONFIG_DIR', '.claude'],
  codex: ['CODEX_HOME', '.codex'],
  copilot: ['COPILOT_HOME', '.copilot'],
  cline: ['CLINE_DIR', '.cline'],
} as const;

/** The folder with the user's settings and sessions of an agent; null on a machine without a home. */
export function findAgentHome(agent: keyof typeof HOMES, { env, home, cwd }: Machine): string | null {
  const [variable, folder] = HOMES[agent];
  const moved = env[variable];
  if (moved) return resolve(cwd, moved);
  return home === undefined ? null : join(home, folder);
}
