import { claudeCodeHookHost } from './claude-code/setup.ts';
import { clineHookHost } from './cline/setup.ts';
import { codexHookHost } from './codex/setup.ts';
import { copilotHookHost } from './copilot/setup.ts';
import { geminiHookHost } from './gemini/setup.ts';
import type { HookedAgent } from './hook-input.ts';
import type { HookHost } from './hook-setup.ts';
import { opencodeHookHost } from './opencode/setup.ts';
import { qwenHookHost } from './qwen/setup.ts';

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
