import { claudeCodeHook } from './claude-code/hook.ts';
import { claudeCodeHookHost } from './claude-code/hook-host.ts';
import { clineHook } from './cline/hook.ts';
import { clineHookHost } from './cline/hook-host.ts';
import { codexHook } from './codex/hook.ts';
import { codexHookHost } from './codex/hook-host.ts';
import { copilotHook } from './copilot/hook.ts';
import { copilotHookHost } from './copilot/hook-host.ts';
import { geminiHook, geminiHookHost } from './gemini/setup.ts';
import {
  HOOK_EVENTS,
  type HookDialect,
  type HookDialects,
  type HookedAgent,
  type HookMoment,
} from './hook-input.ts';
import type { HookHost } from './hook-setup.ts';
import { opencodeHook, opencodeHookHost } from './opencode/setup.ts';
import { qwenHook, qwenHookHost } from './qwen/setup.ts';

const DIALECTS: HookDialects = {
  'claude-code': claudeCodeHook,
  codex: codexHook,
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

/** Every agent that hooks can be put into. Forgetting one is a compile error. */
const HOSTS: Record<HookedAgent, HookHost> = {
  'claude-code': claudeCodeHookHost,
  codex: codexHookHost,
  gemini: geminiHookHost,
  opencode: opencodeHookHost,
  qwen: qwenHookHost,
  copilot: copilotHookHost,
  cline: clineHookHost,
};

export const HOOK_HOSTS: readonly HookHost[] = Object.values(HOSTS);
