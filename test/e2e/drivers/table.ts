import { claudeCode } from './claude-code.ts';
import { cline } from './cline.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import type { Driver } from './driver.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { qwen } from './qwen.ts';

const DRIVERS: readonly Driver[] = [claudeCode, codex, gemini, qwen, copilot, opencode, cline];

/** The agents that this run is about, as passed to `run.mjs`. */
export function listChosenDrivers(): Driver[] {
  const chosen = (process.env.HANDOVER_E2E_AGENTS ?? '').split(' ');
  return DRIVERS.filter(({ agent }) => chosen.includes(agent));
}
