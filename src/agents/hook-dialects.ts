import { claudeCodeHook } from './claude-code/setup.ts';
import { clineHook } from './cline/setup.ts';
import { copilotHook } from './copilot/setup.ts';
import { geminiHook } from './gemini/hook.ts';
import { HOOK_EVENTS, type HookedAgent, type HookMoment } from './hook-events.ts';
import { type HookDialect, type HookDialects, USUAL_DIALECT } from './hook-input.ts';
import { opencodeHook } from './opencode/hook.ts';
import { qwenHook } from './qwen/hook.ts';

const DIALECTS: HookDialects = {
  'claude-code': claudeCodeHook,
  // Codex rejects output with keys it does not know, so it must stay the usual dialect.
  codex: USUAL_DIALECT,
  gemini: geminiHook,
  opencode: opencodeHook,
  qwen: qwenHook,
  copilot: copilotHook,
  cline: clineHook,
};

/** A hook that was called: whose, which, and what for. */
export interface HookKind {
  agent: HookedAgent;
  event: string;
  moment: HookMoment;
  dialect: HookDialect;
}

/** Null for a name that no hook of ours has. */
export function findHook(agent: string, event: string): HookKind | null {
  if (!isHooked(agent)) return null;
  const moment = new Map<string, HookMoment>(Object.entries(HOOK_EVENTS[agent])).get(event);
  return moment === undefined ? null : { agent, event, moment, dialect: DIALECTS[agent] };
}

/** Null for an agent that has no hooks of ours. */
export function findDialect(agent: string): HookDialect | null {
  return isHooked(agent) ? DIALECTS[agent] : null;
}

function isHooked(name: string): name is HookedAgent {
  return Object.hasOwn(DIALECTS, name);
}
