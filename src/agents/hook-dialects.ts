import { claudeCodeHook } from './claude-code/setup.ts';
import { clineHook } from './cline/setup.ts';
import { copilotHook } from './copilot/setup.ts';
import { geminiHook } from './gemini/setup.ts';
import { DEFAULT_DIALECT, HOOK_EVENTS, type HookDialect, type HookedAgent, type HookMoment } from './hook-input.ts';
import { opencodeHook } from './opencode/setup.ts';
import { qwenHook } from './qwen/setup.ts';

/** The hook program starts at every prompt: nothing imported here may import, even indirectly, a library (valibot). */
const DIALECTS: Readonly<Record<HookedAgent, HookDialect>> = {
  'claude-code': claudeCodeHook,
  // Codex rejects output with keys it does not know, so it must stay the usual dialect.
  codex: DEFAULT_DIALECT,
  gemini: geminiHook,
  opencode: opencodeHook,
  qwen: qwenHook,
  copilot: copilotHook,
  cline: clineHook,
};

/** One hook of one agent. */
export interface HookKind {
  agent: HookedAgent;
  event: string;
  moment: HookMoment;
  dialect: HookDialect;
}

/** Null when no hook of ours has that name. */
export function findHook(agent: string, event: string): HookKind | null {
  if (!isHooked(agent)) return null;
  const moment = new Map<string, HookMoment>(Object.entries(HOOK_EVENTS[agent])).get(event);
  return moment === undefined ? null : { agent, event, moment, dialect: DIALECTS[agent] };
}

/** Null for an agent that we put no hooks into. */
export function findDialect(agent: string): HookDialect | null {
  return isHooked(agent) ? DIALECTS[agent] : null;
}

function isHooked(name: string): name is HookedAgent {
  return Object.hasOwn(DIALECTS, name);
}
